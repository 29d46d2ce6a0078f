import { refusal } from '#platform/http/errors/errors.ts';

const EVENT_ID = '0f5f3c9e-7b52-4d55-8a4e-3a1c5f0e6d21';

/** The refusals of editors, in the words of the reference server where clients show them. */
export const EVENT_GONE = refusal(404, (id: string) => `Event '${id}' not Found`, [EVENT_ID]);
export const NOT_WRITABLE = refusal(403, 'No write access to this event.');
export const NOTHING_TO_PREVIEW = refusal(
  400,
  (id: string) => `The event '${id}' has nothing to preview. Process its recording first.`,
  [EVENT_ID],
);
export const BEING_PROCESSED = refusal(
  423,
  (id: string) => `The event '${id}' is being processed. Try again when its workflow has finished.`,
  [EVENT_ID],
);
export const LOCKED = refusal(409, (id: string, username: string) => `Event '${id}' is locked by ${username}`, [
  EVENT_ID,
  'ada',
]);
export const INVALID_LOCK = refusal(400, "The form parameter 'uuid' must have 1 to 100 letters, digits and hyphens.");
export const UNPARSABLE = refusal(400, 'Unable to parse details');
export const INVALID_CUT = refusal(400, (reason: string) => `The cut is invalid: ${reason}.`, [
  'it deletes the whole recording',
]);
export const NO_STREAM_LEFT = refusal(
  400,
  'The track selection is invalid: it leaves out every video and audio stream.',
);
export const UNKNOWN_TRACK = refusal(400, (id: string) => `The event has no track '${id}'.`, [EVENT_ID]);
export const INVALID_CAPTIONS = refusal(
  400,
  (id: string, reason: string) => `The captions '${id}' are invalid: ${reason}.`,
  [EVENT_ID, "they must be WebVTT and begin with 'WEBVTT'"],
);
export const INVALID_PICTURE = refusal(
  400,
  (id: string) => `The thumbnail of the track '${id}' must be a PNG, JPEG, GIF or WebP picture as a base64 data URL.`,
  [EVENT_ID],
);
export const UNKNOWN_WORKFLOW = refusal(
  400,
  (id: string, allowed: string) => `The workflow '${id}' is not for editors; allowed are ${allowed}.`,
  ['retract', 'publish'],
);
