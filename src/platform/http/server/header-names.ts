const UNUSUAL: Readonly<Record<string, string>> = { etag: 'ETag', 'www-authenticate': 'WWW-Authenticate' };

/** Capitalizes a header name: `etag` becomes `ETag`. Some clients compare names literally. */
export function capitalizeHeader(name: string): string {
  const lower = name.toLowerCase();
  return UNUSUAL[lower] ?? lower.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Capitalizes all header names. Deno sends them as last set. */
export function capitalizeHeaders(response: Response): Response {
  const { headers } = response;
  for (const [name, value] of [...headers]) {
    headers.delete(name);
    headers.append(capitalizeHeader(name), value);
  }
  return response;
}
