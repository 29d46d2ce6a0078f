import { randomBytes, randomUUID } from 'node:crypto';
import { filterNames } from '#metadata/core-fields.ts';
import { EVENT_CORE_FIELDS } from '#metadata/episode-fields.ts';
import { SERIES_CORE_FIELDS } from '#metadata/series-fields.ts';

/**
 * What can be named of somebody's event and series: identifiers, and words that are nowhere else. The same shape stands
 * for what exists and for what does not, so that a request can be made of either.
 */
export interface Target {
  event: string;
  track: string;
  workflow: string;
  publication: string;
  element: string;
  filename: string;
  channel: string;
  series: string;
  playlist: string;
  /** A role that the access control lists name, and the account that has it. */
  role: string;
  account: string;
  /** A property of the series and its value. */
  property: string;
  propertyValue: string;
  idempotencyKey: string;
  /** A file that has not come to its end. */
  upload: string;
  /** Addresses that others may upload to. */
  directUpload: string;
  /** Values of the metadata, by what a filter calls them. */
  eventWords: Record<(typeof EVENT_WORDS)[number], string>;
  seriesWords: Record<(typeof SERIES_WORDS)[number], string>;
  /** When the event began and when the series was made. */
  start: string;
}

/** The capture agent of all targets: who may see agents sees them all. */
export const AGENT = 'Hall of everybody';

/** What every request about an upload says. */
export const TUS = { 'Tus-Resumable': '1.0.0' };

const EVENT_WORDS = [...filterNames(EVENT_CORE_FIELDS), 'remarks'] as const;
const SERIES_WORDS = [...filterNames(SERIES_CORE_FIELDS), 'remarks'] as const;

let targets = 0;

/** Words nobody can guess; every one made by a call is different. So are the days, for which filters ask. */
export function newTarget(): Target {
  targets += 1;
  return {
    ...{ event: randomUUID(), track: randomUUID(), series: randomUUID(), playlist: randomUUID() },
    ...{ publication: randomUUID(), element: randomUUID(), filename: `${word()}.mp4`, channel: word() },
    workflow: String(randomBytes(4).readUInt32BE() + 5_000_000_000),
    ...{ role: `ROLE_${word().toUpperCase()}`, account: word(), property: word(), propertyValue: word() },
    ...{ idempotencyKey: word(), upload: word(), directUpload: word() },
    eventWords: words(EVENT_WORDS),
    seriesWords: words(SERIES_WORDS),
    start: new Date(Date.UTC(2031, 0, targets, 10, 11, 12)).toISOString(),
  };
}

/** Every word of a target, those that hold others first. */
export function wordsOf(target: Target): string[] {
  const { eventWords, seriesWords, ...flat } = target;
  return [flat, eventWords, seriesWords].flatMap((group) => Object.values<string>(group));
}

/** A text with the words of a target replaced by what they stand for, and days and new identifiers by signs. */
export function masked(text: string, target: Target): string {
  const named = wordsOf(target).reduce((rest, each, i) => rest.replaceAll(each, `{${i}}`), text);
  return named
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{new}')
    .replaceAll(/20\d\d-[01]\d-[0-3]\d/g, '{day}');
}

function word(): string {
  return `zq${randomBytes(9).toString('hex')}`;
}

function words<N extends string>(names: readonly N[]): Record<N, string> {
  return Object.fromEntries(names.map((name) => [name, word()])) as Record<N, string>;
}
