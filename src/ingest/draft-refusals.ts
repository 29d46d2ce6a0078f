import { HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

const EXAMPLE: [id: string] = ['4c9f3f8e-2d6b-4a57-9b1e-7f0c5a3d2e61'];

export const DRAFT_GONE = refusal(404, (id: string) => `The draft '${id}' does not exist or has expired.`, EXAMPLE);
export const DRAFT_ACCEPTED = refusal(
  409,
  (id: string) => `The draft '${id}' has already been ingested; nothing can be added to it.`,
  EXAMPLE,
);
export const DRAFT_TAKEN = refusal(409, (id: string) => `A draft with the identifier '${id}' already exists.`, EXAMPLE);

/** The draft does not exist for this account: it was discarded, has expired, or has another owner. */
export class DraftGone extends HttpError {
  constructor(id: string) {
    const { status, message } = DRAFT_GONE(id);
    super(status, message);
  }
}
