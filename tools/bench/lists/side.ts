import type pg from 'pg';
import { startBareHono } from '../setup/bare-hono.ts';
import type { Bench } from '../setup/bench.ts';
import { startInletOn } from '../setup/inlet-process.ts';
import { type ApiAddress, ask } from '../support/http-client.ts';
import type { DeepRow } from './hand-written.ts';

/** A database, an API on it, Hono alone on it and a connection of one's own to it. */
export interface Side {
  api: ApiAddress;
  bare: ApiAddress;
  client: pg.Client;
  deep: DeepRow | undefined;
  /** Query of the page of events that begins behind that row. */
  behindDeep: string;
}

export async function openSide(bench: Bench, url: string): Promise<Side> {
  const { api, client } = await startInletOn(bench, url);
  const { api: bare } = await startBareHono(bench, url);
  const { rows } = await client.query<DeepRow & { place: string }>(
    `SELECT start_date, id, place FROM (SELECT count(*) * 9 / 10 AS place FROM events) AS deep
     CROSS JOIN LATERAL (SELECT * FROM events ORDER BY start_date DESC, id DESC LIMIT 1 OFFSET place) AS event`,
  );
  const { headers } = await ask(api, `/api/events?limit=1&offset=${rows[0]?.place ?? 0}`);
  const behindDeep = /\?([^>]*)>; rel="next"/.exec(String(headers.link))?.[1];
  if (behindDeep === undefined) throw new Error('The list of events names no page behind its first nine tenths.');
  return { api, bare, client, deep: rows[0], behindDeep };
}
