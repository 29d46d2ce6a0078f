import { parseArguments, UsageError } from '../command.ts';
import { isRuntime, type Runtime } from '../role.ts';

export const HELP = `npm run demo [-- [--exit] [--runtime deno|node] [FILE...]]

Starts Inlet, uploads a recording over HTTP, and shows how it is processed and published. Then serves until Ctrl-C.

  FILE...     your own recordings instead of a generated one. Two files become one event: the first is the presenter, the
              second the presentation. Three or more become one event each. A sound file is sent as audio.
  --exit      exit after the recording is published, with an exit code other than 0 if it was not
  --runtime   the runtime of the server; deno by default
  --help      show this text

PORT, DATA_DIR and other variables have the same meaning as for npm start.`;

export interface DemoOptions {
  exit: boolean;
  runtime: Runtime;
  files: string[];
}

const OPTIONS = {
  exit: { type: 'boolean', default: false },
  runtime: { type: 'string', default: 'deno' },
} as const;

/** @throws {CommandError} */
export function parseDemoArguments(args: readonly string[]): DemoOptions {
  const { values, positionals } = parseArguments(args, OPTIONS);
  const { exit, runtime } = values;
  if (!isRuntime(runtime)) {
    throw new UsageError(`--runtime is ${JSON.stringify(runtime)}; allowed is deno or node.`);
  }
  return { exit, runtime, files: positionals };
}
