const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** Spreadsheets take text that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns a line of CSV (RFC 4180). Text that spreadsheets would run as a formula begins with an apostrophe. */
export function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
