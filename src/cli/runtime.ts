import { accessSync, chmodSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CommandError } from './failure.ts';

const PLATFORMS: Record<string, string> = {
  'linux-x64': '@deno/linux-x64-glibc',
  'linux-arm64': '@deno/linux-arm64-glibc',
  'darwin-x64': '@deno/darwin-x64',
  'darwin-arm64': '@deno/darwin-arm64',
};

/**
 * Returns the Deno program that npm installed for this platform. The package `deno` is not used, because its script copies
 * the program.
 *
 * @throws {CommandError}
 */
export function denoProgram(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const name = PLATFORMS[platform] ?? platform;
    const program = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'deno');
    makeExecutable(program);
    return program;
  } catch {
    throw new CommandError(
      `Deno is not installed for this machine (${platform}). Run npm ci, or use Node: npm run start:node.`,
    );
  }
}

function makeExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    chmodSync(path, 0o755);
  }
}

/** Replaces this process with another program, which keeps the process ID and receives signals directly. */
export function execProgram(program: string, args: string[], environment: NodeJS.ProcessEnv): never {
  if (!process.execve) throw new CommandError('Inlet runs on Linux and macOS.');
  return process.execve(program, [program, ...args], { ...environment });
}
