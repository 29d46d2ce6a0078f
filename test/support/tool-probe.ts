/** Starts a media tool as a worker does, and ends it after a moment: `tool-probe.ts PROGRAM ARGUMENT...`. */
import { runTool } from '../../src/media/process.ts';

const [program = '', ...args] = process.argv.slice(2);
const controller = new AbortController();
setTimeout(() => controller.abort(new Error('ended')), 700);
await runTool(program, args, { signal: controller.signal, timeLimitMs: 60_000 }).catch((error: Error) =>
  console.log(error.message),
);
