/** XML that a client has percent-encoded, though it stands in a form that needs no such thing. */
export function percentDecoded(text: string): string {
  if (!/^\s*%(?:3C|EF%BB%BF%3C)/i.test(text)) return text;
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text;
  }
}
