import { randomUUID } from 'node:crypto';
import type { FormLimits } from '../http/multipart.ts';
import type { ObjectStorage } from '../storage/port.ts';
import type { StagingLedger } from '../storage/staging.ts';
import { type AdmitFile, type ReceivedFile, receiveFiles } from './receive-files.ts';

/** Which flavor a track gets from the form field it arrives in. Files in other fields are not stored. */
export const FLAVORS: Readonly<Record<string, string>> = {
  presenter: 'presenter/source',
  presentation: 'presentation/source',
  audio: 'presenter-audio/source',
};

/** A track that is stored and staged, and not yet part of an event. */
export interface ReceivedTrack extends Omit<ReceivedFile, 'field'> {
  id: string;
  flavor: string;
}

/**
 * Receives the form of an event with its tracks, in the order of their parts.
 *
 * @param deps.admits as for `receiveFiles`
 * @throws {HttpError} what the client did wrong
 * @throws {ClientGone} when it went away
 */
export async function receiveTracks(
  request: Request,
  limits: FormLimits,
  deps: { storage: ObjectStorage; staging: StagingLedger; admits?: AdmitFile },
): Promise<{ fields: Map<string, string>; tracks: ReceivedTrack[] }> {
  const { fields, files } = await receiveFiles(request, limits, Object.keys(FLAVORS), deps);
  const tracks = files.map(({ field, ...file }) => ({
    ...file,
    id: randomUUID(),
    flavor: FLAVORS[field] ?? field,
  }));
  return { fields, tracks };
}
