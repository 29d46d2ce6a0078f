import type { Key, Order, Position } from '../../database/list/order.ts';
import { badRequest } from '../errors.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MAX_LENGTH = 20_000;

/**
 * A place in a list as an opaque word for URLs. It holds the sorting it belongs to and the values of a row, so that it
 * works also when the row is gone.
 */
export function encodeCursor(order: Order, { side, key }: Position): string {
  return Buffer.from(JSON.stringify([signature(order), side, ...key])).toString('base64url');
}

/**
 * The place a cursor stands for.
 *
 * @throws {HttpError} 400 for one that is none, or of another sorting
 */
export function decodeCursor(order: Order, cursor: string): Position {
  const [sorting, side, ...key] = wordsOf(cursor);
  const fits =
    sorting === signature(order) &&
    key.length === order.length &&
    order.every(({ kind }, i) => (kind === 'text' ? isText(key[i]) : isInstant(key[i])));
  if (!fits || (side !== 'after' && side !== 'before')) {
    throw badRequest("The parameter 'cursor' does not come from a list sorted like this one.");
  }
  return { side, key: key as Key };
}

function signature(order: Order): string {
  return order.map(({ name, descending }) => `${name}:${descending ? 'DESC' : 'ASC'}`).join(',');
}

function wordsOf(cursor: string): unknown[] {
  if (cursor.length > MAX_LENGTH) return [];
  try {
    const words: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(words) ? words : [];
  } catch {
    return [];
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

/** An instant the database takes, too: not the 30th of February. */
function isInstant(value: unknown): boolean {
  if (typeof value !== 'string' || !INSTANT.test(value) || value.startsWith('0000')) return false;
  const seconds = value.slice(0, 19);
  const date = new Date(`${seconds}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds);
}
