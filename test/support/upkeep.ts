import { tmpdir } from 'node:os';
import type { Command } from '../../src/cli/inlet/command.ts';
import type { TestApp } from './app.ts';

/** How a command ended, and what it printed. */
export interface Said {
  code: number;
  lines: string[];
}

const QUIET = { write: () => true, isTTY: false } as unknown as NodeJS.WriteStream;

/** Runs a command of `npm run inlet` in this process, with the configuration of an application. */
export async function say(
  command: Command,
  { context }: Pick<TestApp, 'context'>,
  args: readonly string[] = [],
  {
    env = {},
    signal = new AbortController().signal,
  }: { env?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Said> {
  const lines: string[] = [];
  const code = await command.run(args, {
    environment: {
      TMPDIR: tmpdir(),
      PATH: process.env.PATH,
      DATABASE_URL: context.databaseUrl,
      DATA_DIR: context.config.dataDir,
      ...env,
    },
    signal,
    print: (line) => lines.push(line),
    screen: QUIET,
  });
  return { code, lines };
}
