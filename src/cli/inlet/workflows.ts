import { ask } from '../client/server.ts';
import { type Command, parseArguments, SERVER_OPTIONS, SERVER_USAGE, selectServer, UsageError } from '../command.ts';

const USAGE = `npm run inlet -- workflows retry|stop NUMBER|EVENT...

Retries failed or stopped workflows, or stops running ones. Each is given by its number or by its event, which stands for the
latest workflow of the event.

${SERVER_USAGE}`;
const STATES: ReadonlyMap<string, string> = new Map([
  ['retry', 'retry'],
  ['stop', 'stopped'],
]);

export const workflowsCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print }) {
    const { values, positionals } = parseArguments(args, SERVER_OPTIONS);
    const [action = '', ...names] = positionals;
    const state = STATES.get(action);
    if (state === undefined)
      throw new UsageError(`"${action}" is not allowed; the first argument must be retry or stop.`);
    if (names.length === 0) throw new UsageError('NUMBER or EVENT is missing.');
    const server = selectServer(values, environment);
    for (const name of names) {
      const number = /^\d+$/.test(name) ? name : await latestOf(name);
      const body = new URLSearchParams({ state });
      const answer = await ask(server, `/api/workflows/${number}`, { method: 'PUT', body, signal });
      const workflow = (await answer.json()) as Record<'identifier' | 'event_identifier' | 'state', string>;
      print(`${workflow.identifier}  ${workflow.state}  event ${workflow.event_identifier}`);
    }
    return 0;

    async function latestOf(event: string): Promise<string> {
      const query = new URLSearchParams({ filter: `event:${event}`, limit: '1' });
      const answer = await ask(server, `/api/workflows?${query}`, { signal });
      const [latest] = (await answer.json()) as { identifier: string | number }[];
      if (!latest) throw new UsageError(`The event "${event}" has no workflow.`);
      return String(latest.identifier);
    }
  },
};
