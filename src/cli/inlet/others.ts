import { fileURLToPath } from 'node:url';
import { loadConfig } from '#platform/config/config.ts';
import { HELP as DEMO_USAGE } from '../demo/arguments.ts';
import { migrateCommand as migrate } from '../migrate.ts';
import type { Role } from '../role.ts';
import { become } from '../runtime.ts';
import { USAGE as USER_USAGE } from '../user-arguments.ts';
import { type Command, noMore } from './command.ts';

const program = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const MIGRATE_USAGE = `npm run inlet -- migrate

Brings the database up to date: applies what is new in sql/, and the queue's own schema.`;

/** `migrate`: the same as `npm run migrate`. */
export const migrateCommand: Command = {
  usage: MIGRATE_USAGE,
  async run(args, { environment }) {
    noMore(args, MIGRATE_USAGE);
    await migrate(loadConfig(environment));
    return 0;
  },
};

/** `user`: the same as `npm run user`. */
export const userCommand: Command = {
  usage: `npm run inlet -- user ...\n\n${USER_USAGE}`,
  run: async (args, { environment }) => become(process.execPath, [program('launch.ts'), 'user', ...args], environment),
};

/** `demo`: the same as `npm run demo`. */
export const demoCommand: Command = {
  usage: `npm run inlet -- demo ...\n\n${DEMO_USAGE}`,
  run: async (args, { environment }) => become(process.execPath, [program('demo.ts'), ...args], environment),
};

const ROLES: Record<Role, string> = {
  main: 'API, relay and workers in one process',
  api: 'the API alone',
  worker: 'relay and workers alone',
};

/** `main`, `api`, `worker`: become that role, which is what `npm start`, `npm run api` and `npm run worker` do. */
export const roleCommand = (role: Role): Command => ({
  usage: `npm run inlet -- ${role} [--runtime deno|node]\n\nRuns ${ROLES[role]}, until a signal ends it.`,
  run: async (args, { environment }) => become(process.execPath, [program('launch.ts'), role, ...args], environment),
});
