/** Returns the beginning of a received value for a sentence: objects by type, because they may be nested too deeply. */
export function excerpt(value: unknown, length = 500): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value).slice(0, length).toWellFormed();
}
