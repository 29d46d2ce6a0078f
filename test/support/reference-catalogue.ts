/**
 * The catalogue of the stand-in for the reference server: every event and series is computed from its number, so that a
 * catalogue of any size needs no memory.
 */
import type { FileKind } from './reference-files.ts';

/** What goes wrong with an event. */
export type EventFault =
  /** Lists with details, and the event itself, are answered with 500. */
  | 'broken'
  /** The event has a field of a wrong type. */
  | 'unreadable'
  /** Its tracks are answered with 500. */
  | 'tracks-broken'
  | 'file-missing'
  | 'file-cut'
  /** The file has another checksum than the catalogue says. */
  | 'file-changed';

export interface CatalogueOptions {
  events: number;
  series: number;
  /** The start of an event in milliseconds, never earlier than that of the event before it; undefined for none. */
  startOf: (number: number) => number | undefined;
  faultOf: (number: number) => EventFault | undefined;
  kindOf: (number: number) => Kind;
  /** True for a series whose details are answered with 500. */
  isSeriesBroken: (number: number) => boolean;
}

const EPOCH = Date.UTC(2014, 9, 1, 8);
const QUARTER_MS = 900_000;

/** Every 50th event starts in the same second as the one before it. */
export const usualStart = (number: number): number => EPOCH + (number % 50 === 0 ? number - 1 : number) * QUARTER_MS;

export const KINDS = [...(['player', 'streams', 'captions', 'odd', 'youtube', 'live', 'scheduled', 'failed'] as const)];
export type Kind = (typeof KINDS)[number];

export const kindOf = (number: number): Kind => KINDS[number % KINDS.length] ?? 'player';

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
/** Scatters numbers, so that identifiers are in no order. */
const scattered = (number: number) => Math.imul(number + 1, 2_654_435_761) >>> 0;

export const eventId = (number: number) => `${hex(scattered(number), 8)}-0000-4000-8000-${hex(number, 12)}`;
export const seriesId = (number: number) => `${hex(scattered(number), 8)}-5e51-4000-8000-${hex(number, 12)}`;

/** Returns the number of an event or series, by its identifier. */
export function numberOf(id: string, toId: (number: number) => string): number | undefined {
  const number = Number.parseInt(id.slice(-12), 16);
  return toId(number) === id ? number : undefined;
}

/** Formats a time to the second; empty for none. */
export const utc = (ms: number | undefined) => (ms === undefined ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`);

/** The part of an event that changes may replace. */
export type EventChange = Record<string, unknown>;

/** An element of a publication, or a track, as its server knows it. */
export interface ReferenceFile {
  id: string;
  kind: FileKind;
  flavor: string;
  tags: string[];
  name: string;
  isMaster?: boolean;
  isLive?: boolean;
  ref?: string;
}

const file = (kind: FileKind, flavor: string, id: string, more: Partial<ReferenceFile> = {}): ReferenceFile => ({
  ...{ id, kind, flavor, tags: ['engage-download'], name: `${flavor.replaceAll(/\W/g, '_')}.${kind}` },
  ...more,
});

const SEGMENTS = 6;

/** The files of the publication for players, by kind of event. */
export function playerFiles(kind: Kind): Record<'media' | 'attachments' | 'metadata', ReferenceFile[]> {
  const attachments = [
    file('jpg', 'presenter/player+preview', 'preview-1', { ref: 'track:presenter' }),
    file('jpg', 'presenter/search+preview', 'preview-2', { ref: 'track:presenter' }),
  ];
  const metadata = [file('xml', 'dublincore/episode', 'catalog-1')];
  const presenter = file('mp4', 'presenter/delivery', 'presenter', { tags: ['engage-download', '360p-quality'] });
  if (kind === 'streams') {
    const segments = Array.from({ length: SEGMENTS }, (_, i) =>
      file('ts', 'presenter/delivery', `segment-${i}`, { name: `segment-${i}.ts`, tags: [] }),
    );
    const variant = file('m3u8', 'presenter/delivery', 'variant', { name: 'variant.m3u8', tags: ['engage-streaming'] });
    const master = { name: 'master.m3u8', tags: ['engage-streaming'], isMaster: true };
    return {
      media: [file('m3u8', 'presenter/delivery', 'master', master), variant, ...segments],
      attachments,
      metadata,
    };
  }
  if (kind === 'captions') {
    const tags = ['lang:de', 'type:subtitle', 'generator-type:auto'];
    const media = [presenter, file('vtt', 'captions/delivery', 'captions-de', { tags })];
    return { media, attachments: [...attachments, file('vtt', 'captions/vtt+en', 'captions-en')], metadata };
  }
  if (kind === 'odd') {
    const name = 'Vorlesung 1 (Größe & Maß) 100%.mp4';
    return {
      media: [file('mp4', 'presentation/delivery', 'track number 7', { name, tags: [] })],
      attachments: [],
      metadata,
    };
  }
  return { media: [presenter, file('mp4', 'presentation/delivery', 'presentation')], attachments, metadata };
}

/** The files that were sent to the server. */
export function sourceTracks(kind: Kind): ReferenceFile[] {
  if (kind === 'scheduled' || kind === 'live' || kind === 'youtube') return [];
  const presenter = file('mp4', 'presenter/source', 'source-1', { tags: ['archive'] });
  return kind === 'captions'
    ? [presenter, file('vtt', 'captions/source', 'source-2', { tags: ['lang:de'] })]
    : [presenter];
}

const STATES: Partial<Record<Kind, [status: string, state: string]>> = {
  scheduled: ['SCHEDULED', ''],
  failed: ['PROCESSING_FAILURE', 'FAILED'],
};

/** Returns the fields of an event that every version has, and those since 1.1.0. */
export function eventFields(number: number, { series, startOf, kindOf }: CatalogueOptions) {
  const kind = kindOf(number);
  const [status, state] = STATES[kind] ?? ['PROCESSED', 'SUCCEEDED'];
  const start = utc(startOf(number));
  const belongs = series > 0 && number % 11 !== 0;
  const common = {
    ...(kind !== 'scheduled' && { archive_version: number % 4 }),
    ...{ created: start, creator: 'Harriet Admin', contributor: number % 3 ? [] : ['Ada L.', 'Grace H.'] },
    ...{ description: number % 7 ? '' : 'Zeile 1\nZeile 2', has_previews: false, identifier: eventId(number) },
    ...{ location: `hall-${number % 5}`, presenter: [`Prof. ${number % 40}`], processing_state: state },
    ...{
      subjects: number % 3 ? [] : ['Topic'],
      title: number % 13 ? `Lecture ${number}` : `Vorlesung "${number}" – Größe/Maß`,
    },
  };
  const since11 = {
    ...{ language: 'deu', rightsholder: '', license: 'CC-BY', source: '', status: `EVENTS.EVENTS.STATUS.${status}` },
    ...{ is_part_of: belongs ? seriesId(number % series) : '', series: belongs ? `Series ${number % series}` : '' },
  };
  return { kind, start, common, since11 };
}

export const ACL = [
  { allow: true, action: 'read', role: 'ROLE_STUDENT' },
  { allow: true, action: 'write', role: 'ROLE_LECTURER' },
  { allow: true, action: 'annotate', role: 'ROLE_USER' },
];

const field = (id: string, value: unknown, type = 'text') => {
  const label = `EVENTS.EVENTS.DETAILS.METADATA.${id.toUpperCase()}`;
  return { readOnly: false, id, label, type, value, required: id === 'title' };
};

/** Returns the catalogs of an event, as lists have them. */
export function eventCatalogs(number: number, options: CatalogueOptions) {
  const { common, since11, start } = eventFields(number, options);
  const fields = [
    ...[
      field('title', common.title),
      field('subjects', common.subjects),
      field('description', common.description, 'text_long'),
    ],
    ...[field('language', since11.language), field('license', since11.license), field('isPartOf', since11.is_part_of)],
    ...[field('creator', common.presenter, 'mixed_text'), field('contributor', common.contributor, 'mixed_text')],
    ...[field('startDate', start?.replace('Z', '.000Z'), 'date'), field('duration', '00:00:02')],
    ...[field('location', common.location), field('created', start, 'date'), field('identifier', common.identifier)],
  ];
  const episode = { flavor: 'dublincore/episode', title: 'EVENTS.EVENTS.DETAILS.CATALOG.EPISODE', fields };
  const extended = { flavor: 'university/episode', title: 'University', fields: [field('course', `C-${number}`)] };
  return number % 6 === 0 ? [extended, episode] : [episode];
}

export const seriesCreated = (number: number): number => EPOCH + Math.floor(number / 2) * 1000;

export function seriesFields(number: number) {
  const fields = { identifier: seriesId(number), title: `Series ${number}`, creator: 'Harriet Admin' };
  const people = { contributors: [], organizers: ['Ada L.', 'Hopper, Grace'], publishers: [] };
  return { ...fields, created: utc(seriesCreated(number)), subjects: [], ...people };
}

export function seriesCatalogs(number: number) {
  const fields = [
    ...[field('title', `Series ${number}`), field('subjects', []), field('description', ''), field('language', 'deu')],
    // Values are joined with a comma and a blank, and split at commas.
    ...[field('creator', ['Ada L.', ' Hopper', ' Grace'], 'mixed_text'), field('identifier', seriesId(number))],
  ];
  const common = { flavor: 'dublincore/series', title: 'Opencast Series DublinCore', fields };
  const extended = { flavor: 'university/series', title: 'University', fields: [field('faculty', `F-${number % 9}`)] };
  return number % 4 === 0 ? [extended, common] : [common];
}
