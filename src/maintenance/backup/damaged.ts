/** A backup cannot be read as it was written. */
export class BackupDamaged extends Error {
  override name = 'BackupDamaged';
}

/** What to throw when a file of a backup could not be read, or has been written over. */
export function unreadable(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOfFile =
    code === 'ENOENT' || code === 'EIO' || code.startsWith('Z_') || error instanceof SyntaxError;
  if (!isOfFile) return error;
  return new BackupDamaged(`The backup is damaged: ${path} cannot be read (${(error as Error).message}).`);
}
