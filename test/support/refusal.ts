import { HttpError } from '#platform/http/errors/errors.ts';

/** Status and sentence of the refusal that the work ends in; `accepted` when it does not. Other errors are thrown on. */
export function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpError) return `${error.status} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

/** The sentence of the 400 that the work ends in. */
export function sentenceOf(work: () => unknown): string {
  const answer = refusal(work);
  if (!answer.startsWith('400 ')) throw new Error(`It was answered ${answer}.`);
  return answer.slice(4);
}
