import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cleanup } from '../../bench/support/cleanup.ts';
import type { SoakOptions } from '../options.ts';
import { foundAfter } from '../verdict/found-after.ts';
import { Clients } from './clients.ts';
import { fill, oldDatabase } from './database.ts';
import { migrationsAlone } from './migrations-alone.ts';
import { beforeLatestMigration, describeCommit, extract, migrationsOf, PROJECT } from './previous.ts';
import { migrateTo, startVersion } from './version.ts';
import type { Waits } from './waits.ts';

const ALONE_MS = 10_000;
const BOTH_MS = 20_000;
const PROCESSED_MS = 240_000;
type Say = (text: string) => void;

/**
 * Upgrades a database with many events while it is used: the version before serves, the migrations of this one run, both
 * serve, this one alone. Without the history that it takes, what the migrations hold up is measured.
 *
 * @returns whether no request failed or waited, and all that was uploaded is published
 */
export async function rehearse(options: SoakOptions, say: Say, cleanup: Cleanup): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-upgrade-'));
  // The embedded server runs as another user.
  chmodSync(folder, 0o755);
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const ref = options.from ?? (await beforeLatestMigration());
  if (ref) return upgrade(ref, folder, options, say, cleanup);
  say('this checkout has no history: the version before cannot be run, and its migrations alone are rehearsed');
  const report = await migrationsAlone(folder, options.events, say, cleanup);
  await writeFile(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  return tell(report.faults, say);
}

async function upgrade(
  ref: string,
  folder: string,
  { events, json, worlds }: SoakOptions,
  say: Say,
  cleanup: Cleanup,
): Promise<boolean> {
  const runtime = worlds.runtime ?? 'deno';
  const previous = await describeCommit(ref);
  say(`from ${previous}, on ${runtime}`);
  const tree = await extract(ref, cleanup);
  const known = new Set(await migrationsOf(tree));
  const migrations = (await migrationsOf(PROJECT)).filter((name) => !known.has(name));
  const { url, database } = await oldDatabase(folder, tree, 0, cleanup);
  await fill(database, tree, events);
  say(`${events} events are there`);

  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  const env = (version: string) => ({
    ...{ DATA_DIR: dataDir, DATABASE_URL: url },
    ...{ DENO_DIR: join(folder, `deno-${version}`), NODE_COMPILE_CACHE: join(folder, `node-${version}`) },
  });
  const faults: string[] = [];
  const old = await startVersion(tree, runtime, env('old'), cleanup);
  const clients = new Clients();
  clients.urls = [old.url];
  const stop = new AbortController();
  const running = clients.run(stop.signal);
  await pause(ALONE_MS);
  say(`the version before serves; ${migrations.join(', ') || 'no migration'} to apply`);
  const before = snapshot(clients);
  const migrationMs = await migrateTo(PROJECT, env('new'));
  say(`the migrations took ${migrationMs} ms, with the start of the command`);
  const during = { ...snapshot(clients), before };

  const current = await startVersion(PROJECT, runtime, env('new'), cleanup);
  clients.urls = [old.url, current.url];
  say('both versions serve');
  await pause(BOTH_MS);
  clients.urls = [current.url];
  // A proxy takes it out first; what it has begun it ends.
  await pause(2_000);
  faults.push(...(await old.stop()).map((what) => `of the version before, ${what}`));
  say('this version serves alone');
  await pause(ALONE_MS);
  stop.abort();
  await running;

  faults.push(...(await unpublished(clients.ids, database)));
  const { reads, uploads, failures } = clients;
  faults.push(...failures, ...reads.faults('one of the reads'), ...uploads.faults('one of the uploads'));
  faults.push(...(await current.stop()).map((what) => `of this version, ${what}`));
  const report = { previous, runtime, events, migrations, migrationMs, during, ...snapshot(clients), faults };
  await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  const shown = ({ count, longestMs }: Waits, what: string) => `${count} ${what}, the longest ${longestMs} ms`;
  say(`${shown(uploads, 'uploads')}; ${shown(reads, 'reads')}`);
  return tell(faults, say);
}

const figures = ({ count, longestMs }: Waits) => ({ requests: count, longestMs });
const snapshot = ({ reads, uploads }: Clients) => ({ reads: figures(reads), uploads: figures(uploads) });

async function unpublished(ids: readonly string[], database: Awaited<ReturnType<typeof oldDatabase>>['database']) {
  const look = async () => {
    const rows = await database
      .selectFrom('events')
      .select(['id', 'processing_state'])
      .where('id', 'in', ids.length > 0 ? ids : [''])
      .execute();
    const states = new Map(rows.map(({ id, processing_state }) => [id, processing_state]));
    return ids.filter((id) => states.get(id) !== 'SUCCEEDED').map((id) => `${id}: ${states.get(id) ?? 'gone'}`);
  };
  return ids.length === 0 ? ['nothing was uploaded'] : foundAfter(look, PROCESSED_MS);
}

function tell(faults: readonly string[], say: Say): boolean {
  for (const fault of faults.slice(0, 20)) say(`BROKEN  ${fault}`);
  say(faults.length === 0 ? 'clean' : `not clean: ${faults.length} faults`);
  return faults.length === 0;
}
