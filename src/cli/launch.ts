/**
 * Runs the scripts of package.json: `launch.ts main|api|worker [--runtime deno|node]`, `launch.ts migrate` and
 * `launch.ts user ARGUMENT...`.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '#platform/config/config.ts';
import { runCommand, UsageError } from './command.ts';
import { CommandError, explain } from './failure.ts';
import { migrateCommand } from './prepare-database.ts';
import { ENTRIES, isRuntime, type Role, type Runtime } from './role.ts';
import { startRole } from './start-role.ts';

try {
  await launch(process.argv.slice(2));
} catch (error) {
  console.error(explain(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

async function launch([command = '', ...args]: string[]): Promise<void> {
  if (isRole(command)) {
    const config = loadConfig(process.env);
    await startRole(command, parseRuntime(args), config, process.env);
  } else if (command === 'migrate') {
    await migrateCommand(loadConfig(process.env));
  } else if (command === 'user') {
    const { userCommand } = await import('./user.ts');
    await runCommand(userCommand, args, { environment: process.env, print: (line) => console.log(line) });
  } else {
    throw new CommandError(`"${command}" is not one of main, api, worker, migrate, user.`);
  }
}

function isRole(command: string): command is Role {
  return Object.hasOwn(ENTRIES, command);
}

function parseRuntime(args: string[]): Runtime {
  try {
    const { values } = parseArgs({ args, options: { runtime: { type: 'string', default: 'deno' } } });
    if (isRuntime(values.runtime)) return values.runtime;
  } catch {}
  throw new CommandError(`${args.join(' ')} is not allowed; use --runtime deno or --runtime node.`);
}
