import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const STUDIO_PAGE = '<!doctype html><title>Studio</title>';

/** A folder with a page that stands for a built Studio, behind a link, as sites keep the one they use. */
export async function linkedStudio(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'inlet-studio-'));
  const path = join(folder, 'current');
  await mkdir(join(folder, '2026-11'));
  await writeFile(join(folder, '2026-11', 'index.html'), STUDIO_PAGE);
  await symlink('2026-11', path);
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
