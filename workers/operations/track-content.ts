import { countFrames, inspected, type MediaInfo, probe } from '#platform/media/probe.ts';
import { assertPlausible } from '#platform/media/workload.ts';
import type { OperationContext } from './operation.ts';
import type { SourceTrack } from './prepared-elements.ts';

type Tools = Pick<OperationContext, 'tools' | 'signal'>;
type Examined = Pick<SourceTrack, 'inspection' | 'duration' | 'streams'>;

/**
 * Returns the content of a track, as `inspect` has found it. Examines the track if the workflow did not.
 *
 * @param path where tools read the track
 * @throws {MediaFailure} permanent when it is not a recording, damaged, incomplete or without sound and picture
 */
export async function contentOf(
  { tools, signal }: Tools,
  { inspection, duration, streams }: Examined,
  path: string,
): Promise<MediaInfo> {
  const isKnown = inspection !== null && duration !== null;
  const content = isKnown ? inspected(inspection, { duration, streams }, path) : await probe(tools, path, { signal });
  assertPlausible(content);
  return content;
}

/** Returns the content of a track with its frames counted, which encoding needs and which may take the whole file. */
export async function countedContentOf(context: Tools, track: Examined, path: string): Promise<MediaInfo> {
  return countFrames(context.tools, await contentOf(context, track, path), { signal: context.signal });
}
