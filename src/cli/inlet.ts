/** `npm run inlet -- COMMAND`: all commands for operators. */

import { type Command, runCommand } from './command.ts';
import { explain } from './failure.ts';
import { commands } from './inlet/commands.ts';
import { watchInterrupts } from './terminal/interrupts.ts';

const interrupts = watchInterrupts();
interrupts.hurry.addEventListener('abort', () => process.exit(interrupts.exitCode()));

try {
  const exitCode = await main(process.argv.slice(2));
  process.exitCode = interrupts.exitCode() ?? exitCode;
} catch (error) {
  // An interrupted command has not failed.
  process.exitCode = interrupts.exitCode() ?? 1;
  if (interrupts.exitCode() === undefined) console.error(explain(error));
}

async function main([name = 'help', ...args]: string[]): Promise<number> {
  if (['help', '--help', '-h'].includes(name)) {
    console.log(await overview());
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name as keyof typeof commands] : undefined;
  if (!load) {
    console.error(`"${name}" is not a command.\n\n${await overview()}`);
    return 2;
  }
  return runCommand(await load(), args, {
    environment: process.env,
    signal: interrupts.stop,
    print: (line) => console.log(line),
    screen: process.stderr,
  });
}

async function overview(): Promise<string> {
  const usages = await Promise.all(
    Object.values(commands).map(async (load: () => Promise<Command>) => (await load()).usage.split('\n')[0]),
  );
  return `${usages.join('\n')}\n\nThe environment variables of the server configure all commands. For help, run a command with --help.`;
}
