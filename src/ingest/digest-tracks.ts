import { createHash } from 'node:crypto';
import { type FormLimits, readForm } from '../http/multipart.ts';
import type { RequestContent } from '../idempotency/fingerprint.ts';
import { safeFilename } from './receive-files.ts';
import { FLAVORS, type ReceivedTrack } from './receive-tracks.ts';

/** What tells one new event with its tracks from another. */
export function trackContent(
  fields: ReadonlyMap<string, string>,
  tracks: readonly ReceivedTrack[],
): RequestContent {
  return {
    fields,
    files: tracks.map(({ flavor, filename, size, sha256 }) => ({ name: flavor, filename, size, sha256 })),
  };
}

/**
 * Reads the form of a new event as `receiveTracks` does, but stores nothing: for a repeated request, which only has to
 * be told from the first.
 *
 * @throws {HttpError} what the client did wrong
 * @throws {ClientGone} when it went away
 */
export async function digestTracks(request: Request, limits: FormLimits): Promise<RequestContent> {
  const files: NonNullable<RequestContent['files']>[number][] = [];
  let started = 0;
  const fields = await readForm(request, limits, async ({ field, filename, stream }) => {
    const name = filename.trim() !== '' && Object.hasOwn(FLAVORS, field) ? FLAVORS[field] : undefined;
    const index = name ? started++ : 0;
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (name) hash.update(chunk);
    }
    if (name) files[index] = { name, filename: safeFilename(filename), size, sha256: hash.digest('hex') };
  });
  return { fields, files };
}
