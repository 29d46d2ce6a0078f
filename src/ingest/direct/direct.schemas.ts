import { z } from 'zod';
import { formatInstant } from '#metadata/time.ts';
import { Instant } from '#platform/http/endpoint/schemas.ts';
import type { DirectFile, DirectUpload } from './direct-uploads.ts';

/** How far a direct upload is. */
const STATES = ['waiting', 'uploading', 'finished', 'failed', 'expired'] as const;

const FILE = {
  field: z.string().optional().describe('The form field it would have come in, if it was asked for by one.'),
  flavor: z.string().describe('What its track is to be.'),
};

/** The addresses that somebody asked for. */
export const DirectUploadMade = z
  .object({
    identifier: z.string(),
    expires: Instant,
    max_bytes: z.int().describe('How large each file may be.'),
    files: z.array(
      z.object({ ...FILE, url: z.url().describe('Its address, which is told only this once.') }),
    ),
  })
  .meta({ id: 'DirectUploadMade' });
export type DirectUploadMadeJson = z.infer<typeof DirectUploadMade>;

/** What has become of them. */
export const DirectUploadState = z
  .object({
    identifier: z.string(),
    state: z
      .enum(STATES)
      .describe(
        '`waiting` until the first byte; `finished` when there is the event, `failed` when none could be made.',
      ),
    expires: Instant,
    max_bytes: z.int().describe('How large each file may be.'),
    files: z.array(
      z.object({
        ...FILE,
        filename: z.string().optional().describe('As whoever uploads says; missing until then.'),
        length: z.int().nullable().describe('In bytes; null until whoever uploads says it.'),
        offset: z.int().describe('How many bytes have come and are safe.'),
        upload_identifier: z
          .string()
          .optional()
          .describe(
            'Of what `failed`: for the form field `uploads` of `POST /api/events`, until it expires.',
          ),
      }),
    ),
    event_identifier: z.string().optional().describe('The event that was made of it.'),
    reason: z.string().optional().describe('Why no event could be made of it.'),
  })
  .meta({ id: 'DirectUpload' });
export type DirectUploadStateJson = z.infer<typeof DirectUploadState>;

/** A direct upload as those who asked for it are told. */
export function directUploadJson(direct: DirectUpload): DirectUploadStateJson {
  const { id, expiresAt, maxBytes, files, eventId, failure } = direct;
  const state = stateOf(direct);
  return {
    identifier: id,
    state,
    expires: formatInstant(expiresAt),
    max_bytes: maxBytes,
    files: files.map((file) => ({
      ...fileJson(file),
      ...(file.filename !== undefined && { filename: file.filename }),
      length: file.length ?? null,
      offset: file.offset,
      ...(state === 'failed' && file.begun && { upload_identifier: file.uploadId }),
    })),
    ...(eventId !== undefined && { event_identifier: eventId }),
    ...(failure !== undefined && { reason: failure }),
  };
}

/** What a file was asked for as. */
export function fileJson({ field, flavor }: Pick<DirectFile, 'field' | 'flavor'>) {
  return { ...(field !== undefined && { field }), flavor };
}

function stateOf({ eventId, failure, expired, files }: DirectUpload): (typeof STATES)[number] {
  if (eventId !== undefined) return 'finished';
  if (expired) return 'expired';
  if (failure !== undefined) return 'failed';
  return files.some(({ offset }) => offset > 0) ? 'uploading' : 'waiting';
}
