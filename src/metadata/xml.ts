/** Everything but the characters that XML 1.0 allows; a lone surrogate is not one of them. */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // A parser turns a bare carriage return into a line feed.
  '\r': '&#13;',
};

/** Whether XML 1.0 can hold every character of a text. */
export function isXmlText(text: string): boolean {
  return text.search(ILLEGAL) < 0;
}

/** A text as it stands in an XML element or attribute. Characters that XML 1.0 cannot hold are left out. */
export function xmlText(text: string): string {
  return text.replace(ILLEGAL, '').replace(/[&<>"\r]/g, (character) => ESCAPES[character] ?? character);
}
