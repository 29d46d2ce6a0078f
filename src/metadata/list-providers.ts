/** Values clients may choose from, in order. */
export interface ListEntry {
  key: string;
  /** What people see, or its translation key. */
  label: string;
  /** What the list endpoint says of the value, where that is more than its label. */
  text?: string;
}

/** The lists of this installation, by name. */
export type ListProviders = ReadonlyMap<string, readonly ListEntry[]>;

/** A list as the `collection` of a field: label by value. */
export function collectionOf(entries: readonly ListEntry[]): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.map(({ key, label }) => [key, label]));
}

const LICENSES = ['ALLRIGHTS', 'CC0', 'CC-BY', 'CC-BY-SA', 'CC-BY-ND', 'CC-BY-NC', 'CC-BY-NC-SA', 'CC-BY-NC-ND'];

/** ISO 639-2, the terminological codes. */
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

/** The lists the default catalogs refer to (compatibility 3.9). A site can replace them by files of the same name. */
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
