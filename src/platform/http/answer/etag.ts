/** The strong entity tag of content with this digest. */
export function strongEtag(digest: string): string {
  return `"${digest}"`;
}

/** Whether an If-None-Match header names the tag (weak comparison): the client has the content already. */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((candidate) => opaque(candidate) === opaque(etag));
}

/**
 * Whether a range may be served under an If-Range header: there is none, or it names the tag (strong comparison).
 * A date never does, because no Last-Modified is sent that it could come from.
 */
export function allowsRange(header: string | undefined, etag: string): boolean {
  return header === undefined || (header.trim() === etag && !etag.startsWith('W/'));
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
