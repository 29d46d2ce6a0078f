import { refusal } from '#platform/http/errors/refusal.ts';
import { UPLOAD_REFUSALS } from '../answer-failure.ts';

/** The version of the protocol, in every request and answer. */
export const VERSION = '1.0.0';
/** The content type of the bytes of an upload. */
export const OFFSET_STREAM = 'application/offset+octet-stream';
/** The algorithms of `Upload-Checksum`. */
export const ALGORITHMS: readonly string[] = ['sha1', 'sha256', 'sha512', 'md5'];
const CLOSE = { Connection: 'close' };

export const WRONG_VERSION = refusal(412, `Tus-Resumable must be ${VERSION}.`, [], {
  'Tus-Version': VERSION,
});
export const NO_OFFSET_STREAM = refusal(415, `The content type must be ${OFFSET_STREAM}.`, [], CLOSE);
export const BAD_NUMBER = refusal(
  400,
  (header: string) => `${header} must be a whole number of bytes, such as 1048576.`,
  ['Upload-Offset'],
);
export const BAD_LENGTH = refusal(400, 'Either Upload-Length or Upload-Defer-Length: 1 is required.');
export const LENGTH_KNOWN = refusal(400, 'Upload-Length must not change, nor be less than Upload-Offset.');
export const BAD_METADATA = refusal(
  400,
  (most: number) =>
    `Upload-Metadata must be unique keys, each followed by a space and its value in Base64, separated by commas; ${most} characters at most.`,
  [8192],
);
export const BAD_FLAVOR = refusal(
  400,
  "The 'flavor' in Upload-Metadata must be a type and a subtype with a slash between them, such as presenter/source.",
);
export const NO_CONCATENATION = refusal(400, 'Upload-Concat is not supported: send the file as one upload.');
export const BAD_CHECKSUM = refusal(
  400,
  `Upload-Checksum must be one of ${ALGORITHMS.join(', ')}, a space, and the checksum in Base64.`,
);
// Status 460 is the protocol's own, which no table of statuses has.
export const CHECKSUM_MISMATCH = refusal(460 as 400, 'The bytes do not match Upload-Checksum; none is kept.');
export const BAD_OVERRIDE = refusal(
  405,
  'A POST to an upload needs the header X-HTTP-Method-Override with the value PATCH or DELETE.',
  [],
  { Allow: 'GET, HEAD, PATCH, DELETE' },
);
export const OTHER_OFFSET = refusal(409, 'Upload-Offset must be the offset of the upload, which HEAD returns.');
export const UPLOAD_GONE = refusal(410, 'The upload has been given up.');
export const UPLOAD_LOCKED = refusal(423, 'Another request is writing to the upload. Try again in a moment.');
export const UPLOAD_TOO_LONG = refusal(413, 'Received more bytes than the upload may have.', [], CLOSE);
export const LENGTH_TOO_LARGE = refusal(
  413,
  (bytes: number) => `An upload may have ${bytes} bytes; this one is to have more.`,
  [100 * 2 ** 30],
  CLOSE,
);
/** The refusals of every request that brings bytes. */
export const BYTE_REFUSALS = [
  ...[WRONG_VERSION, BAD_NUMBER, NO_CONCATENATION, BAD_CHECKSUM, CHECKSUM_MISMATCH, NO_OFFSET_STREAM],
  ...[UPLOAD_TOO_LONG, LENGTH_TOO_LARGE, ...UPLOAD_REFUSALS],
];
