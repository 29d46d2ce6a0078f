import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import type { MediaTools } from '../../../src/platform/media/tools/locate-tools.ts';
import { runTool } from '../../../src/platform/media/tools/run-tool.ts';

/**
 * Stand-ins for the media tools that write down each command with a link to the file it reads, and then become the
 * real tool. What a workflow really runs can be run again without it, whatever the workflow looks like.
 */
export class RecordedTools {
  /** Paths of the stand-ins. */
  readonly tools: MediaTools;
  readonly #calls: string;
  readonly #results: string;

  /** @param folder on the same disk as the files that the tools read; made here */
  constructor(folder: string, real: MediaTools) {
    this.#calls = join(folder, 'calls');
    this.#results = join(folder, 'results');
    mkdirSync(this.#calls, { recursive: true });
    mkdirSync(this.#results);
    const standIn = (name: keyof MediaTools) => {
      const path = join(folder, name);
      writeFileSync(path, standInScript(real[name], this.#calls), { mode: 0o755 });
      return path;
    };
    this.tools = { ffmpeg: standIn('ffmpeg'), ffprobe: standIn('ffprobe') };
  }

  /**
   * A program that runs the recorded commands one after the other, and how many there are.
   *
   * @param chosen which commands to run, by their arguments; all by default
   */
  replay(chosen: (args: readonly string[]) => boolean = () => true): { run: () => Promise<void>; commands: number } {
    const calls = readdirSync(this.#calls)
      .sort()
      .filter((call) => chosen(this.#argumentsOf(call)));
    const script = join(this.#calls, '..', `replay-${calls.length}`);
    const lines = calls.map((call) => this.#line(call));
    writeFileSync(script, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
    const run = async () => void (await runTool(script, [], { timeLimitMs: 3_600_000 }));
    return { run, commands: calls.length };
  }

  #argumentsOf(call: string): string[] {
    return readFileSync(join(this.#calls, call, 'arguments'), 'utf8')
      .split('\0')
      .slice(0, -1);
  }

  #line(name: string): string {
    const call = join(this.#calls, name);
    const args = this.#argumentsOf(name);
    const command = args.map((arg, i) => {
      if (i === 0 || !isAbsolute(arg)) return arg;
      return args[i - 1] === '-i' ? join(call, 'input') : join(this.#results, basename(arg));
    });
    if (args.includes('-i') && !existsSync(join(call, 'input'))) {
      throw new Error(`A recorded command reads a file that is gone: ${args.join(' ')}`);
    }
    return `${command.map(quoted).join(' ')} </dev/null >/dev/null || exit 1`;
  }
}

function standInScript(tool: string, calls: string): string {
  return `#!/bin/sh
PATH=/usr/bin:/bin
call=$(mktemp -d ${quoted(calls)}/$(date +%s%N)-XXXXXX)
printf '%s\\0' ${quoted(tool)} "$@" > "$call/arguments"
last=
for argument; do
  if [ "$last" = -i ]; then ln "$argument" "$call/input" 2>/dev/null || cp "$argument" "$call/input"; fi
  last=$argument
done
exec ${quoted(tool)} "$@"
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
