/** `npm run demo`; see `demo/arguments.ts`. */
import { runCommand } from './command.ts';
import { HELP, parseDemoArguments } from './demo/arguments.ts';
import { runDemo } from './demo/run.ts';
import { explain } from './failure.ts';
import { watchInterrupts } from './terminal/interrupts.ts';

const interrupts = watchInterrupts();
const demo = { usage: HELP, run: (args: readonly string[]) => runDemo(parseDemoArguments(args), interrupts) };
try {
  process.exitCode = await runCommand(demo, process.argv.slice(2), { print: (line) => console.log(line) });
} catch (error) {
  // An interrupted command has not failed.
  process.exitCode = interrupts.exitCode() ?? 1;
  if (interrupts.exitCode() === undefined) console.error(explain(error));
}
