/** Separators that some readers take for the end of a line and that JSON does not escape. */
const SEPARATORS = /[\u2028\u2029]/g;

/** Returns a value as one line of JSON. */
export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json.replaceAll(SEPARATORS, (each) => `\\u${each.charCodeAt(0).toString(16)}`)}\n`;
}
