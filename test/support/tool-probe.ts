/**
 * Starts a media tool or a program of a site as a worker does, ends it after so many milliseconds, and says how it came
 * out: `tool-probe.ts tool|program MILLISECONDS PROGRAM ARGUMENT...`.
 */
import { runProgram, runTool } from '#platform/media/tools/run-tool.ts';

const [kind = '', endMs = '', program = '', ...args] = process.argv.slice(2);
const controller = new AbortController();
setTimeout(() => controller.abort(new Error('ended')), Number(endMs)).unref();
const options = { signal: controller.signal, timeLimitMs: 60_000 };
await (kind === 'tool' ? runTool(program, args, options) : runProgram(program, args, options)).then(
  () => console.log('succeeded'),
  (error: Error) => console.log(error.message),
);
