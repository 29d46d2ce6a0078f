import type { Agent } from 'node:http';
import pg from 'pg';
import type { Bench } from '../setup/bench.ts';
import { databaseWith } from '../setup/filled.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { ApiAddress } from '../support/http-client.ts';
import { A_DAY, AGENTS, seedSchedules } from './seed.ts';

/** A database full of recordings, an API on it and a connection of one's own to it. */
export interface Side {
  api: ApiAddress;
  agent: Agent;
  client: pg.Client;
  /** On so many days each agent has recordings. */
  days: number;
}

/** @param recordings of each agent */
export async function openSide(bench: Bench, recordings: number, agent: Agent): Promise<Side> {
  const url = await databaseWith(bench, `scheduled_${recordings * AGENTS}`, (database) =>
    seedSchedules(database, recordings),
  );
  const { api } = await startInlet(bench, 'api', { DATABASE_URL: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  bench.cleanup.add(() => client.end().catch(() => undefined));
  return { api, agent, client, days: Math.ceil(recordings / A_DAY) };
}
