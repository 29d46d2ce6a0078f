/**
 * Tries what its arguments say, to find out what a process may do: `deno run FLAGS permission-probe.ts JSON...`. Prints a
 * line of JSON for each: `{"outcome": "done"}`, `"denied"` when the runtime forbids it, or what else went wrong.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

interface DenoNamespace {
  listen(options: { hostname: string; port: number }): { close(): void };
  dlopen(path: string, symbols: object): unknown;
}
const { Deno } = globalThis as unknown as { Deno: DenoNamespace };

/** One thing to try: a kind, and what with. */
export type Attempt = [kind: keyof typeof KINDS, ...values: string[]];

const KINDS = {
  read: (path: string) => readFile(path),
  list: (path: string) => readdir(path),
  look: (path: string) => stat(path),
  /** Changes nothing that is there. */
  write: async (path: string) => (await open(path, 'a')).close(),
  /** A name inside a folder for a file elsewhere, and reading it by that name. */
  'read by link': async (folder: string, path: string) => {
    const link = join(folder, 'link');
    await symlink(path, link);
    return readFile(link);
  },
  run: (program: string, ...args: string[]) => ended(spawn(program, args, { stdio: 'ignore' })),
  'run with another loader': (program: string, library: string) =>
    ended(spawn(program, ['-version'], { stdio: 'ignore', env: { LD_PRELOAD: library } })),
  signal: async (pid: string) => process.kill(Number(pid), 0),
  connect: async (port: string) => {
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  },
  listen: async (port: string) => {
    // Node's way ends the process with a rejection that nobody can catch.
    Deno.listen({ hostname: '127.0.0.1', port: Number(port) }).close();
  },
  import: (url: string) => import(url),
  variable: async (name: string) => {
    if (process.env[name] === undefined) throw new Error('unset');
  },
  'native code': async (path: string) => Deno.dlopen(path, {}),
};

async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`exit code ${code}`);
}

for (const argument of process.argv.slice(2)) {
  const [kind, ...values] = JSON.parse(argument) as Attempt;
  console.log(
    JSON.stringify({
      outcome: await attempt(KINDS[kind] as (...values: string[]) => Promise<unknown>, values),
    }),
  );
}

async function attempt(kind: (...values: string[]) => Promise<unknown>, values: string[]): Promise<string> {
  try {
    await kind(...values);
    return 'done';
  } catch (error) {
    const { name, message } = error as Error;
    // An import says it in words alone.
    return name === 'NotCapable' || message.startsWith('Requires ') ? 'denied' : `${name}: ${message}`;
  }
}
