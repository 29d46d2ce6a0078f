import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { countStart } from './count-start.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** How a program ended. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, in the project's folder, with these variables, PATH and the code caches only. */
export function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  if (program === process.execPath || program === 'npm') countStart();
  const { PATH, DENO_DIR, NODE_COMPILE_CACHE } = process.env;
  const options = { cwd: PROJECT, env: { PATH, DENO_DIR, NODE_COMPILE_CACHE, ...env }, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Runs a command of `package.json` to its end, as `npm run` does. */
export function launch(args: readonly string[], env: Record<string, string>): Promise<Run> {
  return run(process.execPath, ['src/cli/launch.ts', ...args], env);
}
