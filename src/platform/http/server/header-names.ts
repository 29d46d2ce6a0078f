const UNUSUAL: Readonly<Record<string, string>> = { etag: 'ETag', 'www-authenticate': 'WWW-Authenticate' };

/**
 * A header's name as it is usually written: `etag` becomes `ETag`. Names mean the same in any case of letters, but
 * clients exist that compare them literally.
 */
export function usualHeaderName(name: string): string {
  const lower = name.toLowerCase();
  return UNUSUAL[lower] ?? lower.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Sets every header by its usual name: Deno writes names as they were set last. (Node knows them in lower case only.) */
export function renameHeaders(response: Response): Response {
  const { headers } = response;
  for (const [name, value] of [...headers]) {
    headers.delete(name);
    headers.append(usualHeaderName(name), value);
  }
  return response;
}
