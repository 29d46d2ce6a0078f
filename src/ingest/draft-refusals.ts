import { HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

const EXAMPLE: [id: string] = ['4c9f3f8e-2d6b-4a57-9b1e-7f0c5a3d2e61'];

export const DRAFT_GONE = refusal(
  404,
  (id: string) => `There is no draft '${id}': it has been discarded or has expired, or there never was one.`,
  EXAMPLE,
);
export const DRAFT_ACCEPTED = refusal(
  409,
  (id: string) => `The draft '${id}' has been ingested already; nothing can be added to it.`,
  EXAMPLE,
);
export const DRAFT_TAKEN = refusal(409, (id: string) => `A draft with the identifier '${id}' exists already.`, EXAMPLE);

/** There is no such draft (any more) for whoever asks: it was discarded, has expired, or is another's. */
export class DraftGone extends HttpError {
  constructor(id: string) {
    const { status, message } = DRAFT_GONE(id);
    super(status, message);
  }
}
