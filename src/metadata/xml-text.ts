/** Matches characters that XML 1.0 does not allow, such as lone surrogates. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // Parsers turn a bare carriage return into a line feed.
  '\r': '&#13;',
};

/** True if XML 1.0 allows every character of a text. */
export function isXmlText(text: string): boolean {
  return text.search(ILLEGAL) < 0;
}

/** Escapes a text for an XML element or attribute. Drops characters that XML 1.0 does not allow. */
export function xmlText(text: string): string {
  return text.replace(ILLEGAL, '').replace(/[&<>"\r]/g, (character) => ESCAPES[character] ?? character);
}
