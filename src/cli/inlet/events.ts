import { type Command, noMore, splitArguments, wrongArguments } from './command.ts';
import { ask, SERVER_OPTIONS, SERVER_USAGE, serverOf } from './server.ts';

const USAGE = `npm run inlet -- events [--state STATE] [--text WORDS] [--series ID] [--limit N] [--json]

Lists events, the latest first: identifier, processing state, start and title.

  --state STATE  those in this state of processing alone, such as FAILED
  --text WORDS   those in which these words are found; without commas
  --series ID    those of this series
  --limit N      at most so many; 20 unless given
  --json         as the API gives them
${SERVER_USAGE}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  state: { type: 'string' },
  text: { type: 'string' },
  series: { type: 'string' },
  limit: { type: 'string' },
  json: { type: 'boolean' },
} as const;
/** As much of the list as is asked for at once. */
const PAGE = 500;

/** What the list can be filtered by: it is coarser than the state. */
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

/** `events`: what there is. */
export const eventsCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print }) {
    const { values, positionals } = splitArguments(args, OPTIONS, USAGE);
    noMore(positionals, USAGE);
    const limit = values.limit ?? '20';
    if (!/^[1-9]\d{0,6}$/.test(limit)) {
      throw wrongArguments(`--limit is ${JSON.stringify(limit)}; allowed is a number from 1 on.`, USAGE);
    }
    const state = values.state?.toUpperCase();
    const status = state === undefined ? undefined : STATUSES.get(state);
    if (state !== undefined && status === undefined) {
      const allowed = [...STATUSES.keys()].join(', ');
      throw wrongArguments(`--state is ${JSON.stringify(values.state)}; allowed is ${allowed}.`, USAGE);
    }
    for (const name of ['text', 'series'] as const) {
      if (!values[name]?.includes(',')) continue;
      const found = `--${name} is ${JSON.stringify(values[name])}`;
      throw wrongArguments(`${found}; a comma ends a filter of the API, and nothing can escape it.`, USAGE);
    }
    const server = serverOf(values, environment, USAGE);
    const filters = [
      ...(status === undefined ? [] : [`status:EVENTS.EVENTS.STATUS.${status}`]),
      ...(values.text === undefined ? [] : [`textFilter:${values.text}`]),
      ...(values.series === undefined ? [] : [`series:${values.series}`]),
    ];
    let left = Number(limit);
    const query = new URLSearchParams({ sort: 'date:DESC', limit: String(PAGE) });
    if (filters.length > 0) query.set('filter', filters.join(','));
    for (let path: string | undefined = `/api/events?${query}`; path && left > 0; ) {
      const answer: Response = await ask(server, path, { signal });
      const page = (await answer.json()) as ListedEvent[];
      const wanted = page.filter(({ processing_state }) => state === undefined || processing_state === state);
      for (const event of wanted.slice(0, left)) print(values.json ? JSON.stringify(event) : inWords(event));
      left -= wanted.length;
      path = nextPage(answer);
    }
    return 0;
  },
};

/** A title may hold what moves the cursor of a terminal. */
function inWords({ identifier, processing_state: state, start, title }: ListedEvent): string {
  return `${identifier}  ${(state || 'SCHEDULED').padEnd(12)}  ${start}  ${title.replaceAll(/\p{Cc}/gu, '�')}`;
}

/** The path of what comes after a page, however much changes meanwhile. */
function nextPage(answer: Response): string | undefined {
  const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1];
  const url = next === undefined ? undefined : new URL(next);
  return url && url.pathname + url.search;
}
