import { parseArguments, UsageError } from '../command.ts';
import type { Runtime } from '../role.ts';

export const HELP = `npm run demo [-- [--exit] [--runtime deno|node] [FILE...]]

Starts Inlet, uploads a recording over HTTP, and shows how it is processed and published. Then serves until Ctrl-C.

  FILE...     your own recordings instead of a generated one. Two files become one event: the first is the presenter, the
              second the presentation. Three or more become one event each. A file without video is sent as audio.
  --exit      exit after the recording is published, with an exit code other than 0 if it was not
  --runtime   the runtime of the server; deno by default
  --help      show this text

PORT, DATA_DIR and other variables have the same meaning as for npm start.`;

export interface DemoOptions {
  help: boolean;
  exit: boolean;
  runtime: Runtime;
  files: string[];
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h', default: false },
  exit: { type: 'boolean', default: false },
  runtime: { type: 'string', default: 'deno' },
} as const;

/** @throws {CommandError} */
export function parseDemoArguments(args: readonly string[]): DemoOptions {
  const { values, positionals } = parseArguments(args, OPTIONS, HELP);
  const { help, exit, runtime } = values;
  if (runtime !== 'deno' && runtime !== 'node') {
    throw new UsageError(`--runtime is ${JSON.stringify(runtime)}; allowed is deno or node.`, HELP);
  }
  return { help, exit, runtime, files: positionals };
}
