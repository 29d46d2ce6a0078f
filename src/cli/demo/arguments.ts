import { parseArgs } from 'node:util';
import { CommandError } from '../failure.ts';
import type { Runtime } from '../role.ts';

export const HELP = `npm run demo [-- [--exit] [--runtime deno|node] [FILE...]]

Starts Inlet, sends it a recording over HTTP as any client would, and shows how it is processed and published. It then
keeps serving until Ctrl-C.

  FILE...     recordings of your own instead of a made one: the first shows the presenter, the second the presentation
              (screen) of the same event. Three or more are one event each. A file without a picture is sent as audio.
  --exit      end after the recording is published, with an exit code other than 0 when it was not
  --runtime   what runs the server; deno unless given
  --help      this text

PORT, DATA_DIR and the other variables are those of npm start.`;

/** What a person asks the demo to do. */
export interface DemoOptions {
  help: boolean;
  exit: boolean;
  runtime: Runtime;
  files: string[];
}

/** @throws {CommandError} */
export function parseDemoArguments(args: readonly string[]): DemoOptions {
  const { values, positionals } = split(args);
  const runtime = values.runtime ?? 'deno';
  if (runtime !== 'deno' && runtime !== 'node') {
    throw new CommandError(`--runtime is ${JSON.stringify(runtime)}; allowed is deno or node.`);
  }
  return { help: values.help ?? false, exit: values.exit ?? false, runtime, files: positionals };
}

function split(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        exit: { type: 'boolean' },
        runtime: { type: 'string' },
      },
    });
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
  }
}
