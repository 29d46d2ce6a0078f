import { UPLOAD_REFUSALS } from '../answer-failure.ts';
import { CHECKSUM_MISMATCH, UNREADABLE_CHECKSUM } from './checksum.ts';
import {
  BAD_NUMBER,
  LENGTH_TOO_LARGE,
  NO_CONCATENATION,
  NO_OFFSET_STREAM,
  UPLOAD_TOO_LONG,
  WRONG_VERSION,
} from './tus-refusals.ts';

/** What whoever sends bytes by the protocol may meet. */
export const BYTE_REFUSALS = [
  WRONG_VERSION,
  BAD_NUMBER,
  NO_CONCATENATION,
  UNREADABLE_CHECKSUM,
  CHECKSUM_MISMATCH,
  NO_OFFSET_STREAM,
  UPLOAD_TOO_LONG,
  LENGTH_TOO_LARGE,
  ...UPLOAD_REFUSALS,
];
