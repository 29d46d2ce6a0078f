import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILE_ONLY } from '#app/compile-only.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { Role } from './role.ts';

const LIMIT_MS = 30_000;

/**
 * Compiles a role once for each version, in a separate process, which leaves the compiled code in the folder. A process
 * that compiles its own program keeps 15 to 20 MiB more for as long as it lives. If this fails, the role compiles itself.
 */
export function compileFirst(
  role: Role,
  { program, args, folder, env }: { program: string; args: string[]; folder: string; env: NodeJS.ProcessEnv },
): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${role}-${manifest.version}.compiled`), '', { flag: 'wx' });
  } catch {
    // It was compiled before, or nothing can be written here.
    return;
  }
  spawnSync(program, [...args, COMPILE_ONLY], { env, stdio: 'ignore', timeout: LIMIT_MS });
}
