import { Agent } from 'node:http';
import type pg from 'pg';
import { listDatabase } from '../lists/databases.ts';
import type { Bench } from '../setup/bench.ts';
import { startInletOn } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import { type ApiAddress, ask } from '../support/http-client.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 5;
const LIMIT_MS = 300;
/** Recordings on a page. */
const PAGE = 50;
const SORTS = ['start', 'title', 'series', 'state'].flatMap((name) => [`${name}:asc`, `${name}:desc`]);

/** Filters in the distribution of the seed: frequent, rare and absent values, and a rare one among the oldest. */
const FILTERS = [
  ...['', 'state=processed', 'state=failed', 'state=scheduled', 'state=ingesting'],
  ...['series=series-1', 'series=series-90000', 'series=Seminar 5', 'series=none'],
  ...['agent=agent-0', 'agent=agent-150', 'agent=none'],
  ...['from=2025-12-01', 'to=2016-01-03', 'from=2018-01-01&to=2018-01-31'],
  ...['q=lecture', 'q=trahek', 'q=trahekbya', 'q=xylophone', 'q=lecture trahek', 'q=ka', 'q=qx'],
  ...['state=failed&agent=agent-150', 'series=Seminar 5&state=failed', 'q=lecture&state=failed'],
  ...['q=trahek&agent=agent-0&from=2016-01-01&to=2017-12-31', 'state=scheduled&to=2016-06-30'],
];

/** The list of recordings on the page for operators: every filter in every order, and pages deep in the list. */
export async function measureRecordings(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, events, rounds = quick ? 1 : ROUNDS } = bench.options;
  const { api, client } = await startInletOn(bench, await listDatabase(bench, events));
  const agent = new Agent({ keepAlive: true });
  const queries = FILTERS.flatMap((filter) => SORTS.map((sort) => `${filter}&sort=${sort}`));
  queries.push(`q=${await someIdentifier(client)}&sort=start:desc`, ...(await deepPages(client)));
  const rows: Row[] = [];
  for (const [i, query] of queries.entries()) {
    const page = () => timePage(api, query, agent);
    await page();
    const samples = (await alternate(rounds, { page })).page;
    rows.push({ label: labelOf(query), figures: { page: { unit: 'fine ms', samples, aim: { atMost: LIMIT_MS } } } });
    onRound(i + 1);
  }
  agent.destroy();
  await client.end();
  return {
    name: 'recordings',
    title: `Pages of ${PAGE} out of ${events} recordings for operators`,
    notes: ['page: the whole request over HTTP for the HTML of /admin/recordings, one after the other.'],
    rows,
  };
}

/** The pages before and after the middle and the end of the list, in the usual order. */
async function deepPages(client: pg.Client): Promise<string[]> {
  const places = [
    ['middle', 'OFFSET (SELECT count(*) / 2 FROM events)'],
    ['end', `OFFSET (SELECT count(*) - ${PAGE} - 1 FROM events)`],
  ];
  const pages: string[] = [];
  for (const [name, place] of places) {
    const { rows } = await client.query<{ start: string; id: string }>(
      `SELECT to_char(start_date AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS start, id
       FROM events ORDER BY start_date DESC, id DESC LIMIT 1 ${place}`,
    );
    for (const side of ['after', 'before']) {
      const cursor = ['start:DESC,identifier:DESC', side, rows[0]?.start, rows[0]?.id];
      pages.push(`label=${side} the ${name}&cursor=${Buffer.from(JSON.stringify(cursor)).toString('base64url')}`);
    }
  }
  return pages;
}

async function someIdentifier(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM events ORDER BY id LIMIT 1');
  return rows[0]?.id ?? '';
}

function labelOf(query: string): string {
  const { label, sort, ...filters } = Object.fromEntries(new URLSearchParams(query));
  const texts = Object.entries(filters).map(([name, value]) => `${name}=${value}`);
  return label ?? [...texts, `by ${sort}`].join(' ');
}

async function timePage(api: ApiAddress, query: string, agent: Agent): Promise<number> {
  const parameters = new URLSearchParams(query);
  parameters.delete('label');
  const started = performance.now();
  const { status, body } = await ask(api, `/admin/recordings?${parameters}`, { agent });
  const ms = performance.now() - started;
  if (status !== 200) throw new Error(`${labelOf(query)} answered ${status}: ${body}`);
  return ms;
}
