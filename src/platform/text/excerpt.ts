const MAX_QUOTED = 100;

/** Returns the beginning of a received value for a sentence: objects by type, because they may be nested too deeply. */
export function excerpt(value: unknown, length = 500): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value).slice(0, length).toWellFormed();
}

/** Formats a received value for an error message, shortened; objects by type, as they may be nested too deeply. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_QUOTED));
  if (value === undefined) return 'missing';
  return typeof value === 'object' ? 'a list or an object' : String(value);
}
