import { badRequest } from './errors.ts';

/** A boolean parameter: only the word `true`, in any case of letters, is true (compatibility 2.6). */
export function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

/**
 * `limit` and `offset` of an event list: both optional, and a limit of 0 means no limit.
 *
 * @throws {HttpError} 400 for anything but a whole number that is not negative
 */
export function pageParameters(query: Record<string, string>): { limit: number | undefined; offset: number } {
  const limit = wholeNumber('limit', query.limit);
  return { limit: limit === 0 ? undefined : limit, offset: wholeNumber('offset', query.offset) ?? 0 };
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(value)) return value;
  throw badRequest(
    `The parameter '${name}' is ${JSON.stringify(text.slice(0, 100))}; allowed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
  );
}
