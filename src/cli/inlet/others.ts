import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../config.ts';
import { HELP as DEMO_USAGE } from '../demo/arguments.ts';
import { migrateCommand as migrate } from '../migrate.ts';
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
  run: async (args, { environment }) =>
    become(process.execPath, [program('launch.ts'), 'user', ...args], environment),
};

/** `demo`: the same as `npm run demo`. */
export const demoCommand: Command = {
  usage: `npm run inlet -- demo ...\n\n${DEMO_USAGE}`,
  run: async (args, { environment }) => become(process.execPath, [program('demo.ts'), ...args], environment),
};
