import type { Agent } from 'node:http';
import type pg from 'pg';
import type { Bench } from '../setup/bench.ts';
import { databaseWith } from '../setup/filled.ts';
import { startInletOn } from '../setup/inlet-process.ts';
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
  return { ...(await startInletOn(bench, url)), agent, days: Math.ceil(recordings / A_DAY) };
}
