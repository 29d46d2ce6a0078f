const UNUSUAL: Readonly<Record<string, string>> = { etag: 'ETag', 'www-authenticate': 'WWW-Authenticate' };

/**
 * A header's name as it is usually written: `etag` becomes `ETag`. Names mean the same in any case of letters, but
 * clients exist that compare them literally.
 */
export function usualHeaderName(name: string): string {
  const lower = name.toLowerCase();
  return UNUSUAL[lower] ?? lower.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
