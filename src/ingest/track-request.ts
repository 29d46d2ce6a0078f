import type { z } from 'zod';
import { badRequest } from '../http/errors.ts';
import { TrackForm } from './track.schemas.ts';

/** What a client asks for beside the file of a track; `overwriteExisting`: whether its like make room for it. */
export type TrackRequest = z.infer<typeof TrackForm>;

/** Reads the form fields of a track. @throws {HttpError} 400 with the sentences clients know (compatibility 3.13) */
export function parseTrackRequest(fields: ReadonlyMap<string, string>): TrackRequest {
  const parsed = TrackForm.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  if (path[0] !== 'flavor') throw cannotAdd(message);
  const shown = (fields.get('flavor') ?? '').trim().slice(0, 300).replaceAll(/\p{C}/gu, '');
  throw badRequest(`Could not parse flavor ${shown}; ${message}`);
}

/** 400 for whatever else is wrong with a track. */
export function cannotAdd(reason: string) {
  return badRequest(`Could not add track: ${reason}`);
}
