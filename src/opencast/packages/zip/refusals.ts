import type { HttpError } from '#platform/http/errors/errors.ts';
import { refusal } from '#platform/http/errors/refusal.ts';

/** An archive that is damaged, or holds what no media package does. */
export const ZIP_REFUSED = refusal(400, (reason: string) => `The zip archive cannot be taken: ${reason}.`, [
  'it was cut short',
]);

export const cutShort = (): HttpError => ZIP_REFUSED('it was cut short');

/** What is said about one entry. */
export const entryRefused = (name: string, reason: string): HttpError =>
  ZIP_REFUSED(`the entry ${quoted(name)} ${reason}`);

const SHOWN = 100;

/** A name in a sentence: neither control characters nor a page of text. */
function quoted(name: string): string {
  const plain = name.replace(/\p{C}/gu, '\u{fffd}');
  return `'${plain.length > SHOWN ? `${plain.slice(0, SHOWN)}…` : plain}'`;
}
