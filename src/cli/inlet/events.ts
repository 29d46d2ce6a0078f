import { ask } from '../client/server.ts';
import { type Command, parseArguments, SERVER_OPTIONS, SERVER_USAGE, selectServer, UsageError } from '../command.ts';

const USAGE = `npm run inlet -- events [--state STATE] [--text WORDS] [--series ID] [--limit N] [--json]

Lists events, latest first: identifier, processing state, start and title.

  --state STATE  only events in this processing state, such as FAILED
  --text WORDS   only events that contain these words; without commas
  --series ID    only events of this series
  --limit N      the maximum number of events; 20 by default
  --json         print the JSON of the API
${SERVER_USAGE}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  state: { type: 'string' },
  text: { type: 'string' },
  series: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;
const PAGE_SIZE = 500;

/** The filter values of the API by state; several states share one. */
const STATUSES: ReadonlyMap<string, string> = new Map([
  ['INSTANTIATED', 'PENDING'],
  ['RUNNING', 'PROCESSING'],
  ['FAILING', 'PROCESSING'],
  ['PAUSED', 'PAUSED'],
  ['STOPPED', 'PROCESSING_CANCELLED'],
  ['FAILED', 'PROCESSING_FAILURE'],
  ['SUCCEEDED', 'PROCESSED'],
]);

interface ListedEvent {
  identifier: string;
  processing_state: string;
  start: string;
  title: string;
}

export const eventsCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print }) {
    const { values } = parseArguments(args, OPTIONS, 0);
    const limit = values.limit ?? '20';
    if (!/^[1-9]\d{0,6}$/.test(limit)) {
      throw new UsageError(`--limit is ${JSON.stringify(limit)}; it must be a number from 1 to 9999999.`);
    }
    const state = values.state?.toUpperCase();
    const status = state === undefined ? undefined : STATUSES.get(state);
    if (state !== undefined && status === undefined) {
      const allowed = [...STATUSES.keys()].join(', ');
      throw new UsageError(`--state is ${JSON.stringify(values.state)}; allowed is ${allowed}.`);
    }
    for (const name of ['text', 'series'] as const) {
      if (!values[name]?.includes(',')) continue;
      const found = `--${name} is ${JSON.stringify(values[name])}`;
      throw new UsageError(`${found}; it must not contain a comma, which separates filters of the API.`);
    }
    const server = selectServer(values, environment);
    const filters = [
      ...(status === undefined ? [] : [`status:EVENTS.EVENTS.STATUS.${status}`]),
      ...(values.text === undefined ? [] : [`textFilter:${values.text}`]),
      ...(values.series === undefined ? [] : [`series:${values.series}`]),
    ];
    let left = Number(limit);
    const query = new URLSearchParams({ sort: 'date:DESC', limit: String(PAGE_SIZE) });
    if (filters.length > 0) query.set('filter', filters.join(','));
    for (let path: string | undefined = `/api/events?${query}`; path && left > 0; ) {
      const answer: Response = await ask(server, path, { signal });
      const page = (await answer.json()) as ListedEvent[];
      const wanted = page.filter(({ processing_state }) => state === undefined || processing_state === state);
      for (const event of wanted.slice(0, left)) print(values.json ? JSON.stringify(event) : formatEvent(event));
      left -= wanted.length;
      path = nextPage(answer);
    }
    return 0;
  },
};

/** Replaces control characters, which could move the cursor. */
function formatEvent({ identifier, processing_state: state, start, title }: ListedEvent): string {
  return `${identifier}  ${(state || 'SCHEDULED').padEnd(12)}  ${start}  ${title.replaceAll(/\p{Cc}/gu, '�')}`;
}

function nextPage(answer: Response): string | undefined {
  const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1];
  const url = next === undefined ? undefined : new URL(next);
  return url && url.pathname + url.search;
}
