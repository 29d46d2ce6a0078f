import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the text of a file, and creates it first if it does not exist. Processes that start concurrently get the same
 * text: a complete file appears under its name, or none.
 */
export async function readOrCreateFile(
  folder: string,
  name: string,
  create: () => string | Promise<string>,
): Promise<string> {
  const path = join(folder, name);
  const existing = await readFile(path, 'utf8').catch(unless('ENOENT'));
  if (existing !== undefined) return existing;
  await mkdir(folder, { recursive: true });
  const own = `${path}.${randomUUID()}`;
  try {
    await writeFile(own, await create(), { mode: 0o600, flag: 'wx', flush: true });
    // Another process may be faster; its text counts.
    await link(own, path).catch(unless('EEXIST'));
  } finally {
    await rm(own, { force: true });
  }
  return readFile(path, 'utf8');
}

function unless(code: string) {
  return (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };
}
