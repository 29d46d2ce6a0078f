import { z } from 'zod';
import { FLAVOR } from '#catalogue/events/event-files.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { parseJson } from '#metadata/parse-metadata.ts';
import type { Config } from '#platform/config/config.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { quoted } from '#platform/text/excerpt.ts';
import { FLAVORS, flavorOf } from '../event-form.ts';
import type { AwaitedFile } from './direct-uploads.ts';

const MOST_FILES = 10;
const DIGITS = /^\d{1,16}$/;
/** A date alone is ambiguous. */
const WITH_ZONE = /T.*(?:Z|[+-]\d{2}:?\d{2})$/;
const FIELDS = Object.keys(FLAVORS);

const BAD_MAX_BYTES = refusal(
  400,
  (text: string, most: number) =>
    `The field 'maxBytes' is ${quoted(text)}; allowed is a whole number of bytes from 1 to ${most}.`,
  ['10 GB', 107_374_182_400],
);
const BAD_EXPIRES = refusal(
  400,
  (text: string, most: number) =>
    `The field 'expires' is ${quoted(text)}; allowed is a whole number of seconds from 1 to ${most}, or an ISO 8601 date and time with a time zone within that period from now.`,
  ['tomorrow', 172_800],
);
const BAD_FILES = refusal(
  400,
  (reason: string) =>
    `The field 'files' cannot be read: ${reason}. Allowed are names of form fields (${FIELDS.join(', ')}) separated by commas, or a JSON array of such names and of objects with either a 'field' or a 'flavor' (type/subtype).`,
  ['"camera" is not allowed'],
);
const NOTHING_SCHEDULED = refusal(
  400,
  "The part 'scheduling' is not allowed: direct uploads are for finished recordings.",
);
export const LIMIT_REFUSALS = [BAD_MAX_BYTES, BAD_EXPIRES, BAD_FILES, NOTHING_SCHEDULED];

const Awaited = z
  .object({ field: z.enum(FIELDS).optional(), flavor: z.string().regex(FLAVOR).optional() })
  .refine(({ field, flavor }) => (field === undefined) !== (flavor === undefined))
  .transform(({ field, flavor }): AwaitedFile => ({ field, flavor: flavor ?? flavorOf(field ?? '') }));

export interface Limits {
  files: AwaitedFile[];
  /** The maximum size of each file. */
  maxBytes: number;
  closesAt: Date;
}

/**
 * Reads the form fields `files`, `maxBytes` and `expires`; an empty one counts as absent.
 *
 * @throws {HttpError} 400
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
  if (bytes < 1 || bytes > most) throw BAD_MAX_BYTES(text, most);
  return bytes;
}

function parseExpires(text: string | undefined, mostMs: number, now: Date): Date {
  if (text === undefined) return new Date(now.getTime() + mostMs);
  const instant = WITH_ZONE.test(text) ? (parseDateTime(text)?.getTime() ?? 0) : 0;
  const ms = DIGITS.test(text) ? Number(text) * 1000 : instant - now.getTime();
  if (!(ms > 0 && ms <= mostMs)) throw BAD_EXPIRES(text, mostMs / 1000);
  return new Date(now.getTime() + ms);
}

function parseFiles(text = 'presenter'): AwaitedFile[] {
  const list = text.startsWith('[')
    ? parseJson(text, () => BAD_FILES('it is not valid JSON'))
    : text.split(',').map((name) => name.trim());
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_FILES)
    throw BAD_FILES(`it must name 1 to ${MOST_FILES} files`);
  return list.map((item, i) => {
    const { success, data } = Awaited.safeParse(typeof item === 'string' ? { field: item } : item);
    if (!success) throw BAD_FILES(`${typeof item === 'object' ? `item ${i + 1}` : quoted(item)} is not allowed`);
    return data;
  });
}
