/** What some readers of lines take for the end of one, and JSON does not escape. */
const SEPARATORS = /[\u2028\u2029]/g;

/** A value as JSON, on one line for whatever reads lines. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replaceAll(SEPARATORS, (each) => `\\u${each.charCodeAt(0).toString(16)}`)}\n`;
}
