/** The first character of XML, after blanks and a byte order mark, encoded or not. */
const ENCODED = /^(?:\s|%(?:09|0A|0D|20|EF%BB%BF))*%3C/i;

/** XML that a client has percent-encoded, though it stands in a form that needs no such thing. */
export function percentDecoded(text: string): string {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return text;
  }
}
