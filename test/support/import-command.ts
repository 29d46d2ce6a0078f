import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { countStart } from './count-start.ts';
import { eventually } from './eventually.ts';
import { killProcess } from './kill-process.ts';
import { type Run, run } from './run.ts';
import type { TestServer } from './server.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRESS_MS = 120_000;

/** The variables of commands for an Inlet. */
export function commandEnvironment(server: TestServer, more: Record<string, string> = {}): Record<string, string> {
  const { databaseUrl: DATABASE_URL, dataDir, url } = server;
  return { DATABASE_URL, DATA_DIR: dataDir, PORT: new URL(url).port, HOME: dataDir, ...more };
}

/** Runs a command of an operator to its end. */
export function inlet(environment: Record<string, string>, ...args: string[]): Promise<Run> {
  return run(process.execPath, ['src/cli/inlet.ts', ...args], environment);
}

/** Starts a command of an operator. */
export function startInlet(environment: Record<string, string>, ...args: string[]) {
  countStart();
  const { PATH, DENO_DIR, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, DENO_DIR, NODE_COMPILE_CACHE, ...environment };
  const child: ChildProcess = spawn(process.execPath, ['src/cli/inlet.ts', ...args], {
    ...{ cwd: PROJECT, env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  return {
    child,
    ended,
    kill: () => killProcess(child),
    get isRunning() {
      return child.exitCode === null && child.signalCode === null;
    },
    /** What it has printed. */
    get output() {
      return output;
    },
  };
}

/** What an import has done so far, in numbers that grow. */
const PROGRESS = {
  found: sql<{ done: string }>`SELECT coalesce(max(passes), 0) * 1000000 + (SELECT count(*) FROM import_items
    WHERE pass = (SELECT max(pass) FROM import_items)) AS done FROM import_sources`,
  copied: sql<{ done: string }>`SELECT count(*) AS done FROM import_items WHERE copied IS NOT NULL`,
  stored: sql<{ done: string }>`SELECT (SELECT count(*) FROM import_files) + (SELECT count(*) FROM staging) AS done`,
};

/**
 * Kills an import at random moments, and starts it again each time.
 *
 * @param most the number of items to copy between two kills
 * @returns the kills while it copied
 */
export async function importKilled(
  { database }: Pick<TestServer, 'database'>,
  start: () => ReturnType<typeof startInlet>,
  { kills, most }: { kills: number; most: number },
): Promise<number> {
  const read = async (what: keyof typeof PROGRESS) => {
    const { rows } = await PROGRESS[what].execute(database);
    return Number(rows[0]?.done ?? 0);
  };
  let early = 0;
  for (let kill = 0; kill < kills; kill++) {
    // Mostly while items and their files are copied, sometimes before.
    const what = (['copied', 'stored', 'copied', 'stored', 'found'] as const)[kill % 5] ?? 'copied';
    const before = await read(what);
    const command = start();
    const wanted = before + 1 + Math.floor(Math.random() * most);
    await eventually(
      async () => {
        if (!command.isRunning) throw new Error(`The import has ended too early: ${command.output}`);
        expect(await read(what)).toBeGreaterThanOrEqual(wanted);
      },
      PROGRESS_MS,
      5,
    );
    await command.kill();
    if (what === 'found') early += 1;
  }
  return kills - early;
}
