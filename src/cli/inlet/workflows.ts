import { type Command, splitArguments, wrongArguments } from './command.ts';
import { ask, SERVER_OPTIONS, SERVER_USAGE, serverOf } from './server.ts';

const USAGE = `npm run inlet -- workflows retry|stop NUMBER|EVENT...

Has what failed or was stopped tried again, or stops what runs. Each workflow is named by its number, or by its event, of
which the latest is meant.

${SERVER_USAGE}`;

/** What the API calls these. */
const STATES: ReadonlyMap<string, string> = new Map([
  ['retry', 'retry'],
  ['stop', 'stopped'],
]);

/** `workflows`: control of the processing. */
export const workflowsCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print }) {
    const { values, positionals } = splitArguments(args, SERVER_OPTIONS, USAGE);
    const [wish = '', ...named] = positionals;
    const state = STATES.get(wish);
    if (state === undefined) throw wrongArguments(`"${wish}" is neither retry nor stop.`, USAGE);
    if (named.length === 0) throw wrongArguments('The number of a workflow, or an event, is missing.', USAGE);
    const server = serverOf(values, environment, USAGE);
    for (const name of named) {
      const number = /^\d+$/.test(name) ? name : await latestOf(name);
      const body = new URLSearchParams({ state });
      const answer = await ask(server, `/api/workflows/${number}`, { method: 'PUT', body, signal });
      const workflow = (await answer.json()) as {
        identifier: string;
        event_identifier: string;
        state: string;
      };
      print(`${workflow.identifier}  ${workflow.state}  event ${workflow.event_identifier}`);
    }
    return 0;

    async function latestOf(event: string): Promise<string> {
      const query = new URLSearchParams({ filter: `event:${event}`, limit: '1' });
      const answer = await ask(server, `/api/workflows?${query}`, { signal });
      const [latest] = (await answer.json()) as { identifier: string | number }[];
      if (!latest) throw wrongArguments(`The event "${event}" has no workflow.`, USAGE);
      return String(latest.identifier);
    }
  },
};
