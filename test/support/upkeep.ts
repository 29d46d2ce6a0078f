import { tmpdir } from 'node:os';
import type { Command } from '../../src/cli/inlet/command.ts';

/** What a command is configured by. */
export interface System {
  databaseUrl: string;
  dataDir: string;
  /** The bucket, if there is one. */
  env: Record<string, string>;
}

/** How a command ended, and what it printed. */
export interface Said {
  code: number;
  lines: string[];
}

const QUIET = { write: () => true, isTTY: false } as unknown as NodeJS.WriteStream;

/** Runs a command of `npm run inlet` in this process. */
export async function say(
  command: Command,
  { databaseUrl, dataDir, env }: System,
  args: readonly string[] = [],
  signal = new AbortController().signal,
): Promise<Said> {
  const lines: string[] = [];
  const environment = {
    TMPDIR: tmpdir(),
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ...env,
  };
  const print = (line: string) => void lines.push(line);
  const code = await command.run(args, { environment, signal, print, screen: QUIET });
  return { code, lines };
}
