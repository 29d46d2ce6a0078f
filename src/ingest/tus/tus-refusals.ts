import { ERRORS } from '@tus/server';
import { HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

/** The version of the protocol, in each request and answer. */
export const VERSION = '1.0.0';
/** What the bytes of an upload are sent as. */
export const OFFSET_STREAM = 'application/offset+octet-stream';

export const WRONG_VERSION = refusal(
  412,
  `The request must have the header Tus-Resumable with the value ${VERSION}, the version of the protocol.`,
  [],
  { 'Tus-Version': VERSION },
);
export const NO_OFFSET_STREAM = refusal(415, `The content type must be ${OFFSET_STREAM}.`, [], {
  Connection: 'close',
});
export const BAD_NUMBER = refusal(
  400,
  (header: string) => `${header} must be a whole number of bytes, such as 1048576.`,
  ['Upload-Offset'],
);
export const BAD_LENGTH = refusal(
  400,
  'An upload needs either Upload-Length with its length in bytes or, while nobody knows that, Upload-Defer-Length: 1.',
);
export const LENGTH_KNOWN = refusal(
  400,
  'Upload-Length must be what it was before, and not less than what has come.',
);
export const BAD_METADATA = refusal(
  400,
  (most: number) =>
    `Upload-Metadata must be names, each once and followed by a blank and its value in Base64, with commas between them; ${most} characters at most.`,
  [8192],
);
export const BAD_FLAVOR = refusal(
  400,
  "The 'flavor' in Upload-Metadata must be a type and a subtype with a slash between them, such as presenter/source.",
);
export const NO_CONCATENATION = refusal(400, 'Upload-Concat is not supported: send the file as one upload.');
export const BAD_OVERRIDE = refusal(
  405,
  'A POST to an upload needs the header X-HTTP-Method-Override with the value PATCH or DELETE.',
  [],
  { Allow: 'GET, HEAD, PATCH, DELETE' },
);
export const OTHER_OFFSET = refusal(
  409,
  'Upload-Offset is not how far the upload is; ask with HEAD, and go on from there.',
);
export const UPLOAD_LOCKED = refusal(423, 'Another request is writing to the upload. Try again in a moment.');
export const UPLOAD_GONE = refusal(410, 'The upload has been given up.');
export const UPLOAD_TOO_LONG = refusal(413, 'More came than the upload was declared to have.', [], {
  Connection: 'close',
});
export const LENGTH_TOO_LARGE = refusal(
  413,
  (bytes: number) => `An upload may have ${bytes} bytes; this one is to have more.`,
  [100 * 2 ** 30],
  { Connection: 'close' },
);

const MEANT: ReadonlyMap<unknown, () => HttpError> = new Map<unknown, () => HttpError>([
  [ERRORS.INVALID_OFFSET, OTHER_OFFSET],
  [ERRORS.INVALID_LENGTH, LENGTH_KNOWN],
  [ERRORS.ERR_SIZE_EXCEEDED, UPLOAD_TOO_LONG],
  [ERRORS.ERR_MAX_SIZE_EXCEEDED, UPLOAD_TOO_LONG],
]);

/** What the protocol's library refuses, in words of ours. */
export function inOurWords(refused: { status_code: number; body: string }): HttpError {
  const known = MEANT.get(refused)?.();
  if (known) return known;
  const { status_code: status, body } = refused;
  return new HttpError(status as 400, body.trim());
}
