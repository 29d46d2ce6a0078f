import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import type pg from 'pg';
import { type ListCase, labelOf, listCases, PAGE, PEOPLE } from '../lists/cases.ts';
import { listDatabase, SMALL } from '../lists/databases.ts';
import { handWritten } from '../lists/hand-written.ts';
import { plansOf } from '../lists/plans.ts';
import { openSide, type Side } from '../lists/side.ts';
import type { Bench } from '../setup/bench.ts';
import { type Row, ratios, summary, type Table } from '../support/figures.ts';
import { type ApiAddress, ask } from '../support/http-client.ts';
import { alternate } from '../support/rounds.ts';

const ROUNDS = 9;
const SLOWEST = 5;
/** More than a process has connections. */
const WARM_UP = 16;
/** A way of asking that takes this many times the best one in its first run is not measured on. */
const HOPELESS = 3;

/** Pages of lists over HTTP, against the best SQL for the same page, and against few events. */
export async function measureLists(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, events, plans, rounds = quick ? 1 : ROUNDS } = bench.options;
  const url = await listDatabase(bench, events);
  const large = await openSide(bench, url);
  const fewer = Math.min(SMALL, events);
  const small = await openSide(bench, await listDatabase(bench, fewer));
  const agent = new Agent({ keepAlive: true });
  await Promise.all([large, small].map(({ api }) => warmUp(api)));
  const measured: { list: ListCase; row: Row; ms: number }[] = [];
  for (const [i, list] of listCases().entries()) {
    const queries = await hopeful(large.client, handWritten(list, large.deep));
    const best = async () => Math.min(...(await inTurn(queries, (query) => timeQuery(large.client, query))));
    const measurements = {
      sql: best,
      bare: async () => Math.min(...(await inTurn(queries, (query) => timeBare(large, query, agent)))),
      inlet: () => timePage(large, list, agent),
      small: () => timePage(small, list, agent),
    };
    await alternate(1, measurements);
    const times = await alternate(rounds, measurements);
    onRound(i + 1);
    measured.push({
      list,
      ms: summary(times.inlet).median,
      row: {
        label: labelOf(list),
        figures: {
          page: { unit: 'fine ms', samples: times.inlet },
          SQL: { unit: 'fine ms', samples: times.sql },
          'bare Hono': { unit: 'fine ms', samples: times.bare },
          'of bare Hono': { unit: 'ratio', samples: ratios(times.inlet, times.bare), aim: { atMost: 1.5 } },
          'of SQL': { unit: 'ratio', samples: ratios(times.inlet, times.sql) },
          [`of ${fewer}`]: { unit: 'ratio', samples: ratios(times.inlet, times.small), aim: { atMost: 2 } },
        },
      },
    });
  }
  agent.destroy();
  for (const { client } of [large, small]) await client.end();
  const slowest = measured.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  if (plans) writeFileSync(plans, `${(await inTurn(slowest, ({ list }) => plansOf(url, list))).join('\n\n')}\n`);
  return {
    name: 'lists',
    title: `Pages of ${PAGE} out of ${events} events and ${Math.ceil(events / 10)} series`,
    notes: [
      'page: the whole request over HTTP, one after the other. SQL: the best hand-written query for the same rows on',
      'one connection, without HTTP, accounts, totals and JSON. bare Hono: a handler that sends the rows of that query.',
      `of ${fewer}: the same request to a database of that size.`,
      `The slowest: ${slowest.map(({ list }) => labelOf(list)).join('; ')}.`,
    ],
    rows: measured.map(({ row }) => row),
  };
}

/** Lets every connection of the pool meet every table: the first queries of each take many times as long. */
async function warmUp(api: ApiAddress): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: WARM_UP });
  const paths = Array.from({ length: WARM_UP * WARM_UP }, (_, i) => {
    const query = i % 3 === 0 ? 'filter=textFilter:none' : 'limit=5';
    return `/api/${i % 2 ? 'events' : 'series'}?${query}`;
  });
  await Promise.all(paths.map((path) => ask(api, path, { agent })));
  agent.destroy();
}

async function timeBare({ bare }: Side, { text, values }: pg.QueryConfig, agent: Agent): Promise<number> {
  const query = encodeURIComponent(JSON.stringify({ text, values }));
  const started = performance.now();
  const { status } = await ask(bare, `/sql?query=${query}`, { agent });
  const ms = performance.now() - started;
  if (status !== 200) throw new Error(`Hono alone answered ${status}.`);
  return ms;
}

async function timePage({ api, behindDeep }: Side, list: ListCase, agent: Agent): Promise<number> {
  const query = new URLSearchParams(list.deep ? behindDeep : '');
  query.set('limit', String(PAGE));
  if (list.filter) query.set('filter', list.filter);
  if (list.sort) query.set('sort', list.sort);
  const roles = PEOPLE[list.person];
  const headers = roles ? { 'X-RUN-WITH-ROLES': roles.join(',') } : {};
  const started = performance.now();
  const { status, body } = await ask(api, `/api/${list.table}?${query}`, { headers, agent });
  const ms = performance.now() - started;
  if (status !== 200) throw new Error(`${labelOf(list)} answered ${status}: ${body}`);
  return ms;
}

async function timeQuery(client: pg.Client, query: pg.QueryConfig): Promise<number> {
  const started = performance.now();
  await client.query(query);
  return performance.now() - started;
}

/** Those queries that may be the best one. */
async function hopeful(client: pg.Client, queries: pg.QueryConfig[]): Promise<pg.QueryConfig[]> {
  for (const query of queries) await timeQuery(client, query);
  const times = await inTurn(queries, (query) => timeQuery(client, query));
  const limit = Math.min(...times) * HOPELESS;
  return queries.filter((_, i) => (times[i] ?? 0) <= limit);
}

async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
