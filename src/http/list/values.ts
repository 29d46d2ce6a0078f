import { badRequest } from '../errors.ts';

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/;
const MAX_WORDS = 20;

/**
 * A moment in a filter, `yyyy-MM-ddTHH:mm:ssZ` in UTC, also with fractions of a second (of which milliseconds count);
 * undefined for anything else.
 */
export function parseInstant(text: string): Date | undefined {
  const [, seconds, fraction = ''] = INSTANT.exec(text) ?? [];
  if (!seconds || seconds.startsWith('0000')) return undefined;
  const date = new Date(`${seconds}${fraction.slice(0, 4)}Z`);
  // Neither the 30th of February nor the 24th hour is one.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds) ? date : undefined;
}

/**
 * The moment up to which an instant given as the end of a period reaches, itself excluded. Clients see instants to the
 * second, so that one given to the second includes it.
 */
export function endOf(text: string): Date | undefined {
  const instant = parseInstant(text);
  return instant && new Date(instant.getTime() + (text.includes('.') ? 1 : 1000));
}

/**
 * The words of a textFilter, each of which has to occur.
 *
 * @throws {HttpError} 400 for very many
 */
export function parseWords(text: string): string[] {
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  if (words.length <= MAX_WORDS) return words;
  throw badRequest(`The filter 'textFilter' has ${words.length} words; allowed are ${MAX_WORDS}.`);
}
