/** `npm run demo`; see `demo/arguments.ts`. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '#platform/config/config.ts';
import { HELP, parseDemoArguments } from './demo/arguments.ts';
import { runDemo } from './demo/run.ts';
import { explain } from './failure.ts';
import { callersFolder } from './terminal/callers-folder.ts';
import { watchInterrupts } from './terminal/interrupts.ts';

const interrupts = watchInterrupts();
try {
  const options = parseDemoArguments(process.argv.slice(2));
  if (options.help) {
    console.log(HELP);
  } else {
    const files = options.files.map((file) => resolve(callersFolder(process.env), file));
    const success = await runDemo(
      { ...options, files },
      {
        config: loadConfig(process.env),
        chosenPassword: Boolean(process.env.ADMIN_PASSWORD),
        launcher: fileURLToPath(new URL('./launch.ts', import.meta.url)),
        interrupts,
        output: process.stdout,
      },
    );
    process.exitCode = success ? 0 : 1;
  }
} catch (error) {
  // An interrupted command has not failed.
  process.exitCode = interrupts.exitCode() ?? 1;
  if (interrupts.exitCode() === undefined) console.error(explain(error));
}
