import { open, rename } from 'node:fs/promises';

/** Writes a file that only its owner can read, atomically and durably. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
