/** The capitalized names so far, by name. Only this server's own names get here. */
const CAPITALIZED = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
]);

/** Capitalizes a header name: `etag` becomes `ETag`. Some clients compare names literally. */
export function capitalizeHeader(name: string): string {
  const lower = name.toLowerCase();
  let capitalized = CAPITALIZED.get(lower);
  if (capitalized === undefined) {
    capitalized = lower.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
    CAPITALIZED.set(lower, capitalized);
  }
  return capitalized;
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
