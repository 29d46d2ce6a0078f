import { FLAVOR } from '#catalogue/events/flavor.ts';
import { parseDateTime } from '#metadata/time.ts';
import type { Config } from '#platform/config/config.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { FLAVORS, flavorOf } from '../event-form.ts';
import type { AwaitedFile } from './direct-uploads.ts';

const MOST_FILES = 10;
const MOST_SHOWN = 100;
const DIGITS = /^\d{1,16}$/;
/** A date alone is ambiguous. */
const WITH_ZONE = /T.*(?:Z|[+-]\d{2}:?\d{2})$/;
const FIELDS = Object.keys(FLAVORS).join(', ');

export const BAD_MAX_BYTES = refusal(
  400,
  (text: string, most: number) =>
    `The field 'maxBytes' is ${JSON.stringify(text)}; allowed is a whole number of bytes from 1 to ${most}.`,
  ['10 GB', 107_374_182_400],
);
export const BAD_EXPIRES = refusal(
  400,
  (text: string, most: number) =>
    `The field 'expires' is ${JSON.stringify(text)}; allowed is a whole number of seconds from 1 to ${most}, or a date and time with a time zone (ISO 8601) that is in the future by no more than that.`,
  ['tomorrow', 172_800],
);
export const BAD_FILES = refusal(
  400,
  (reason: string) =>
    `The field 'files' cannot be read: ${reason}. Allowed are names of form fields (${FIELDS}) with commas between them, or a JSON array of such names and of objects with a 'field' or a 'flavor'.`,
  ['"camera" is no form field'],
);
export const NOTHING_SCHEDULED = refusal(
  400,
  "The part 'scheduling' is not for direct uploads: what comes by them has been recorded.",
);
export const LIMIT_REFUSALS = [BAD_MAX_BYTES, BAD_EXPIRES, BAD_FILES, NOTHING_SCHEDULED];

/** The files that are awaited, how large they may be, and until when they may come. */
export interface Limits {
  files: AwaitedFile[];
  /** Of each file. */
  maxBytes: number;
  closesAt: Date;
}

/**
 * Reads the form fields `files`, `maxBytes` and `expires`; an empty one counts as absent.
 *
 * @throws {HttpError} 400 that says what is allowed
 */
export function parseLimits(
  fields: ReadonlyMap<string, string>,
  { maxUploadBytes, uploadExpiryMs }: Pick<Config, 'maxUploadBytes' | 'uploadExpiryMs'>,
  now: Date,
): Limits {
  const field = (name: string) => fields.get(name)?.trim() || undefined;
  if (field('scheduling') !== undefined) throw NOTHING_SCHEDULED();
  return {
    files: parseFiles(field('files')),
    maxBytes: parseMaxBytes(field('maxBytes'), maxUploadBytes),
    closesAt: parseExpires(field('expires'), uploadExpiryMs, now),
  };
}

function parseMaxBytes(text: string | undefined, most: number): number {
  if (text === undefined) return most;
  const bytes = DIGITS.test(text) ? Number(text) : 0;
  if (bytes < 1 || bytes > most) throw BAD_MAX_BYTES(text.slice(0, MOST_SHOWN), most);
  return bytes;
}

function parseExpires(text: string | undefined, mostMs: number, now: Date): Date {
  if (text === undefined) return new Date(now.getTime() + mostMs);
  const instant = WITH_ZONE.test(text) ? (parseDateTime(text)?.getTime() ?? 0) : 0;
  const ms = DIGITS.test(text) ? Number(text) * 1000 : instant - now.getTime();
  if (!(ms > 0 && ms <= mostMs)) throw BAD_EXPIRES(text.slice(0, MOST_SHOWN), mostMs / 1000);
  return new Date(now.getTime() + ms);
}

function parseFiles(text: string | undefined): AwaitedFile[] {
  if (text === undefined) return [fileOf('presenter')];
  const list = text.startsWith('[') ? jsonOf(text) : text.split(',').map((name) => name.trim());
  if (!Array.isArray(list)) throw BAD_FILES('it is not valid JSON');
  if (list.length === 0) throw BAD_FILES('it names no file');
  if (list.length > MOST_FILES) throw BAD_FILES(`it names more than ${MOST_FILES} files`);
  return list.map(fileOf);
}

function fileOf(item: unknown): AwaitedFile {
  const asked = typeof item === 'string' ? { field: item } : item;
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) {
    throw BAD_FILES(`${shown(item)} is neither a name nor an object`);
  }
  const { field, flavor }: { field?: unknown; flavor?: unknown } = asked;
  if ((field === undefined) === (flavor === undefined)) {
    throw BAD_FILES(`${shown(item)} has to have either a 'field' or a 'flavor'`);
  }
  if (field !== undefined) {
    if (typeof field === 'string' && Object.hasOwn(FLAVORS, field)) return { field, flavor: flavorOf(field) };
    throw BAD_FILES(`${shown(field)} is no form field`);
  }
  if (typeof flavor === 'string' && FLAVOR.test(flavor)) return { field, flavor };
  throw BAD_FILES(`${shown(flavor)} is no flavor, which is a type and a subtype with a slash between them`);
}

function shown(value: unknown): string {
  let text = 'something nested deeply';
  try {
    // It can write fewer levels than JSON.parse reads.
    text = JSON.stringify(value) ?? 'nothing';
  } catch {}
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
