import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isAlive } from './process-identity.ts';

const NAME = /^(\d+)-(\d+)-(\d+)$/;
let registrations = 0;

/**
 * Enters this process as a user of the server. The entry counts as long as the process lives, also after it has
 * replaced itself by another program; it need not be taken back.
 *
 * @returns takes the entry back
 */
export function registerUser(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const { pid, started } = identify(process.pid) ?? { pid: process.pid, started: '0' };
  registrations += 1;
  const entry = join(folder, `${pid}-${started}-${registrations}`);
  writeFileSync(entry, '');
  return () => rmSync(entry, { force: true });
}

/** Whether a living process is entered. Removes the entries of dead ones. */
export function hasUsers(folder: string): boolean {
  let used = false;
  for (const name of entries(folder)) {
    const [, pid, started] = NAME.exec(name) ?? [];
    if (pid && started && isAlive({ pid: Number(pid), started })) used = true;
    else rmSync(join(folder, name), { force: true });
  }
  return used;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
