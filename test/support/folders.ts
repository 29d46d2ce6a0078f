import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const create = () => mkdtemp(join(tmpdir(), 'inlet-test-'));
const remove = (folder: string) => rm(folder, { recursive: true, force: true });

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await create();
  onTestFinished(() => remove(folder));
  return folder;
}

/** A folder for all tests of the file that calls this at its top. */
export async function folderForThisFile(): Promise<string> {
  const folder = await create();
  afterAll(() => remove(folder));
  return folder;
}
