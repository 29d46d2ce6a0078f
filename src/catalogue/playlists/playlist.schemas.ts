import { z } from 'zod';
import { MAX_ENTRIES as MAX_ACL_ENTRIES, MAX_LENGTH, StrictEntry } from '#access/acl/acl.ts';
import { TEXT_BYTES } from '#metadata/field-values.ts';
import { Instant } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { tryParseJson } from '#platform/text/json.ts';
import { EVENT_ID } from '../events/event-examples.ts';

const MAX_ENTRIES = 5000;
const DESCRIPTION_BYTES = 100_000;

/** The allowed values of each field, for refusals. */
const ALLOWED: Readonly<Record<string, string>> = {
  playlist: 'a JSON object',
  title: `a text of up to ${TEXT_BYTES} bytes`,
  creator: `a text of up to ${TEXT_BYTES} bytes`,
  description: `a text of up to ${DESCRIPTION_BYTES} bytes`,
  entries: `a list of up to ${MAX_ENTRIES} objects`,
  accessControlEntries: `a list of up to ${MAX_ACL_ENTRIES} objects`,
  id: 'the identifier of an entry that this playlist has, once, or missing for a new entry',
  contentId: `a text of 1 to ${MAX_LENGTH} characters`,
  type: '"EVENT"',
  allow: 'true or false',
  role: `a text of 1 to ${MAX_LENGTH} characters`,
  action: `a text of 1 to ${MAX_LENGTH} characters`,
};

export const INVALID_PLAYLIST = refusal(
  400,
  (path: string, name: string) => `The playlist is not valid: '${path}' must be ${ALLOWED[name] ?? 'an object'}.`,
  ['entries[0].type', 'type'],
);

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();
const text = (bytes: number) => z.string().refine((value) => isStorable(value) && Buffer.byteLength(value) <= bytes);
const known = z
  .int()
  .min(0)
  .nullish()
  .transform((id) => id || undefined)
  .describe('The identifier of an entry that the playlist has; missing for a new entry.');
/** Some clients send the only item of a list by itself. */
const listOf = <Item extends z.ZodType>(item: Item, most: number) =>
  z.preprocess((value) => (isObject(value) ? [value] : value), z.array(item).max(most)).optional();

const EntryRequest = z.object({
  id: known,
  contentId: z
    .string()
    .max(MAX_LENGTH)
    .refine((value) => value.trim() !== '' && isStorable(value))
    .describe('Identifier of an event, which need not exist.'),
  type: z.literal('EVENT').default('EVENT'),
});

/** The form field `playlistEntries`. */
export const PlaylistEntriesRequest = z.array(EntryRequest).max(MAX_ENTRIES).meta({ id: 'PlaylistEntriesRequest' });

const shortText = text(TEXT_BYTES).nullish();

/** The form field `playlist`. Further properties are ignored. */
export const PlaylistRequest = z
  .object({
    title: shortText,
    description: text(DESCRIPTION_BYTES).nullish(),
    creator: shortText,
    entries: listOf(EntryRequest, MAX_ENTRIES),
    accessControlEntries: listOf(StrictEntry.extend({ id: known }).meta({ id: undefined }), MAX_ACL_ENTRIES),
  })
  .meta({ id: 'PlaylistRequest', description: 'In an update, missing properties keep their values.' });
export type PlaylistRequest = z.infer<typeof PlaylistRequest>;

const entryId = z.int().describe('Keeps its value as long as the entry exists.');

export const Playlist = z
  .object({
    id: z.string(),
    entries: z.array(
      z.object({
        id: entryId,
        contentId: z.string().describe('Identifier of an event. It may not exist, or not be readable.'),
        type: z.literal('EVENT'),
      }),
    ),
    title: z.string(),
    description: z.string(),
    creator: z.string(),
    updated: Instant,
    accessControlEntries: z.array(z.object({ id: entryId, allow: z.boolean(), role: z.string(), action: z.string() })),
  })
  .meta({ id: 'Playlist' });
export type PlaylistJson = z.infer<typeof Playlist>;

export const PLAYLIST_ID = '0d1c6ee2-0c1f-4a51-8f3c-6f5dd4dbb0a2';
export const NEW_PLAYLIST = {
  title: 'Exercises',
  description: 'All recorded exercises',
  creator: 'Ada Lovelace',
  entries: [{ contentId: EVENT_ID, type: 'EVENT' }],
  accessControlEntries: [{ allow: true, role: 'ROLE_STUDENT', action: 'read' }],
} as const;
export const PLAYLIST: PlaylistJson = {
  id: PLAYLIST_ID,
  entries: [{ id: 553, contentId: EVENT_ID, type: 'EVENT' }],
  title: NEW_PLAYLIST.title,
  description: NEW_PLAYLIST.description,
  creator: NEW_PLAYLIST.creator,
  updated: '2026-09-01T10:00:00Z',
  accessControlEntries: [{ id: 91, allow: true, role: 'ROLE_STUDENT', action: 'read' }],
};

/** Reads the form field `playlist`. @throws {HttpError} 400 */
export function parsePlaylist(sent: string): PlaylistRequest {
  return checkPlaylist(tryParseJson(sent));
}

/** Reads the form field `playlistEntries`. @throws {HttpError} 400 */
export function parseEntries(sent: string): PlaylistRequest {
  return checkPlaylist({ entries: tryParseJson(sent) ?? null });
}

/** Checks the JSON of a playlist. @throws {HttpError} 400 */
export function checkPlaylist(json: unknown): PlaylistRequest {
  const parsed = PlaylistRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path ?? [];
  const shown = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const name = path.findLast((key) => typeof key === 'string');
  const isItem = typeof path.at(-1) === 'number';
  throw INVALID_PLAYLIST(shown.slice(1) || 'playlist', isItem ? '' : (name ?? 'playlist'));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
