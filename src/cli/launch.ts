/**
 * Runs the scripts of package.json: `launch.ts main|api|worker [--runtime deno|node]`, `launch.ts migrate` and
 * `launch.ts user ARGUMENT...`.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadConfig } from '#platform/config/config.ts';
import { CommandError, explain } from './failure.ts';
import { migrateCommand, prepareDatabase } from './prepare-database.ts';
import { ENTRIES, type Role, type Runtime } from './role.ts';
import { execProgram } from './runtime.ts';
import { startRole } from './start-role.ts';

const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

try {
  await launch(process.argv.slice(2));
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
}

async function launch([command = '', ...args]: string[]): Promise<void> {
  if (isRole(command)) {
    const config = loadConfig(process.env);
    const runtime = parseRuntime(args);
    await startRole({ role: command, runtime, config, environment: process.env, project: PROJECT });
  } else if (command === 'migrate') {
    await migrateCommand(loadConfig(process.env));
  } else if (command === 'user') {
    const databaseUrl = await prepareDatabase(loadConfig(process.env));
    execProgram(process.execPath, [join(PROJECT, 'src/cli/user.ts'), ...args], {
      ...process.env,
      DATABASE_URL: databaseUrl,
    });
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
    if (values.runtime === 'deno' || values.runtime === 'node') return values.runtime;
  } catch {}
  throw new CommandError(`${args.join(' ')} is not allowed; use --runtime deno or --runtime node.`);
}
