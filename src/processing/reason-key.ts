/** Returns the common part of reasons that differ only in numbers, quoted names and identifiers. */
export function reasonKey(reason: string): string {
  return reason
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '…')
    .replaceAll(/"[^"]*"|'[^']*'|“[^”]*”/g, '…')
    .replaceAll(/\d+([.,:]\d+)*/g, '…')
    .trim()
    .slice(0, 300)
    .toWellFormed();
}
