/** A value that clients may offer. */
export interface ListEntry {
  key: string;
  /** A text or a translation key. */
  label: string;
  /** Replaces the label in the answer of the list endpoint. */
  text?: string;
}

/** The lists of this installation, by name. */
export type ListProviders = ReadonlyMap<string, readonly ListEntry[]>;

const LICENSES = ['ALLRIGHTS', 'CC0', 'CC-BY', 'CC-BY-SA', 'CC-BY-ND', 'CC-BY-NC', 'CC-BY-NC-SA', 'CC-BY-NC-ND'];

/** ISO 639-2/T codes. */
const LANGUAGES = {
  ara: 'ARABIC',
  bul: 'BULGARIAN',
  cat: 'CATALAN',
  zho: 'CHINESE',
  hrv: 'CROATIAN',
  ces: 'CZECH',
  dan: 'DANISH',
  nld: 'DUTCH',
  eng: 'ENGLISH',
  est: 'ESTONIAN',
  fin: 'FINNISH',
  fra: 'FRENCH',
  glg: 'GALICIAN',
  deu: 'GERMAN',
  ell: 'GREEK',
  heb: 'HEBREW',
  hin: 'HINDI',
  hun: 'HUNGARIAN',
  isl: 'ICELANDIC',
  gle: 'IRISH',
  ita: 'ITALIAN',
  jpn: 'JAPANESE',
  kor: 'KOREAN',
  lat: 'LATIN',
  lav: 'LATVIAN',
  lit: 'LITHUANIAN',
  mlt: 'MALTESE',
  nor: 'NORWEGIAN',
  fas: 'PERSIAN',
  pol: 'POLISH',
  por: 'PORTUGUESE',
  ron: 'ROMANIAN',
  rus: 'RUSSIAN',
  srp: 'SERBIAN',
  slk: 'SLOVAK',
  slv: 'SLOVENIAN',
  spa: 'SPANISH',
  swe: 'SWEDISH',
  tur: 'TURKISH',
  ukr: 'UKRAINIAN',
  eus: 'BASQUE',
  vie: 'VIETNAMESE',
};

/** The lists of the default catalogs (compatibility 3.9). A file of METADATA_DIR with the same name replaces one. */
export const BUILT_IN_LISTS: ListProviders = new Map<string, readonly ListEntry[]>([
  [
    'LICENSES',
    LICENSES.map((key, order) => {
      const label = `EVENTS.LICENSE.${key.replaceAll('-', '')}`;
      return { key, label, text: JSON.stringify({ label, order, selectable: true }) };
    }),
  ],
  ['LANGUAGES', Object.entries(LANGUAGES).map(([key, name]) => ({ key, label: `LANGUAGES.${name}` }))],
]);
