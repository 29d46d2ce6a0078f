const MAX_SHOWN = 100;

/** The beginning of what a client sent, as it may stand in a sentence to it. What can be as deep as JSON is not shown. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (value === undefined) return 'missing';
  return typeof value === 'object' ? 'a list or an object' : String(value);
}
