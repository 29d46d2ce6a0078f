/**
 * What reasons have in common that differ only in the recording: numbers, names in quotation marks and identifiers are
 * left out. At most 300 characters, which a database takes.
 */
export function reasonKey(reason: string): string {
  return reason
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '…')
    .replaceAll(/"[^"]*"|'[^']*'|“[^”]*”/g, '…')
    .replaceAll(/\d+([.,:]\d+)*/g, '…')
    .trim()
    .slice(0, 300)
    .toWellFormed();
}
