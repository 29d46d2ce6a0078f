import { join } from 'node:path';
import { loadConfig } from '#platform/config/config.ts';
import { type Command, parseArguments } from '../command.ts';
import { HELP as DEMO_USAGE } from '../demo/arguments.ts';
import { migrateCommand as migrate } from '../prepare-database.ts';
import type { Role } from '../role.ts';
import { execProgram } from '../runtime.ts';
import { USAGE as USER_USAGE } from '../user.ts';

/** Runs a program instead of this process. */
const program =
  (name: string, ...first: string[]): Command['run'] =>
  async (args, { environment }) =>
    execProgram(process.execPath, [join(import.meta.dirname, '..', name), ...first, ...args], environment);

const MIGRATE_USAGE = `npm run inlet -- migrate

Applies the pending migrations of Inlet and of the queue to the database.`;

export const migrateCommand: Command = {
  usage: MIGRATE_USAGE,
  async run(args, { environment }) {
    parseArguments(args, {}, 0);
    await migrate(loadConfig(environment));
    return 0;
  },
};

export const userCommand: Command = {
  usage: `npm run inlet -- user ...\n\n${USER_USAGE}`,
  run: program('launch.ts', 'user'),
};

export const demoCommand: Command = {
  usage: `npm run inlet -- demo ...\n\n${DEMO_USAGE}`,
  run: program('demo.ts'),
};

const ROLES: Record<Role, string> = {
  main: 'API, relay and workers in one process',
  api: 'only the API',
  worker: 'only relay and workers',
};

/** `main`, `api` and `worker`: run the role in this process, as `npm start`, `npm run api` and `npm run worker` do. */
export const roleCommand = (role: Role): Command => ({
  usage: `npm run inlet -- ${role} [--runtime deno|node]\n\nRuns ${ROLES[role]}, until a signal stops it.`,
  run: program('launch.ts', role),
});
