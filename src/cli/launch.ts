/**
 * Starts what package.json's scripts are named after: `launch.ts COMMAND [--runtime deno|node] [ARGUMENT...]`.
 * The roles main, api and worker, and the tools migrate and user.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '#platform/config/config.ts';
import { CommandError, explain } from './failure.ts';
import { migrateCommand } from './migrate.ts';
import { prepareDatabase } from './prepare-database.ts';
import { ENTRIES, type Role, type Runtime } from './role.ts';
import { become } from './runtime.ts';
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
    become(process.execPath, [join(PROJECT, 'src/cli/user.ts'), ...args], {
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
  if (args.length === 0) return 'deno';
  const [option, runtime, ...rest] = args.flatMap((argument) => argument.split('='));
  if (option === '--runtime' && (runtime === 'deno' || runtime === 'node') && rest.length === 0) return runtime;
  throw new CommandError(`${args.join(' ')} is not understood; allowed is --runtime deno or --runtime node.`);
}
