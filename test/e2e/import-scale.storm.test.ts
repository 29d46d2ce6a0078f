import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ImportReport } from '#maintenance/import/import-report.ts';
import { databaseForThisFile } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startInlet } from '../support/import-command.ts';
import { type EventFault, eventId, KINDS, type Kind, seriesId } from '../support/reference-catalogue.ts';
import { ReferenceServer } from '../support/reference-server.ts';

/** With 100,000 this is a measurement that takes most of an hour. */
const EVENTS = Number(process.env.IMPORT_EVENTS ?? 2000);
const SERIES = EVENTS / 20;
const KILLS = EVENTS < 50_000 ? 3 : 10;
const RATE = 200;
const PATIENCE_MS = 120_000 + EVENTS * 40;
/** The memory of a process that copies so many in a run has had time to grow. */
const MANY = 50_000;
const SAMPLE_MS = 1000;

/** One event in 25 has files. */
const SHARE = 25;
const FILE_FAULTS: Record<number, EventFault> = {
  ...{ 1: 'file-missing', 2: 'file-cut', 3: 'file-changed', 4: 'tracks-broken' },
};
const hasFiles = (number: number) => number % SHARE === 0;
const kindOf = (number: number): Kind =>
  hasFiles(number) ? (KINDS[(number / SHARE) % KINDS.length] ?? 'player') : 'scheduled';
const PLAYERS = SHARE * KINDS.length;
function faultOf(number: number): EventFault | undefined {
  if (number % 25_000 === 1201) return 'broken';
  if (number % 1000 === 333) return 'unreadable';
  return number % PLAYERS === 0 ? FILE_FAULTS[(number / PLAYERS) % 20] : undefined;
}
const BROKEN_SERIES = 17;

const target = databaseForThisFile();

test(`of ${EVENTS} events all but the planted faults are here, at ${RATE} requests a second, though the import is killed ${KILLS} times`, {
  timeout: PATIENCE_MS * 2,
}, async () => {
  const server = await ReferenceServer.start({
    ...{ events: EVENTS, series: SERIES, kindOf, faultOf, isSeriesBroken: (number) => number === BROKEN_SERIES },
    latencyMs: 20,
  });
  onTestFinished(() => server.close());
  const DATA_DIR = await temporaryFolder();
  const environment = { DATABASE_URL: target.url, DATA_DIR, HOME: DATA_DIR, INLET_PASSWORD: 'secret' };
  const start = () => {
    const limits = ['--rate', String(RATE), '--parallel', '16'];
    const command = startInlet(environment, 'import', server.url, '--user', 'import', ...limits);
    onTestFinished(command.kill);
    return command;
  };
  const copied = async () => {
    const items = target.database
      .selectFrom('import_items')
      .where('kind', '=', 'event')
      .where('copied', 'is not', null);
    const { count } = await items.select((eb) => eb.fn.countAll<string>().as('count')).executeTakeFirstOrThrow();
    return Number(count);
  };
  const begun = performance.now();
  for (let kill = 1; kill <= KILLS; kill++) {
    const command = start();
    const wanted = (EVENTS * (kill - Math.random())) / KILLS / 2;
    await eventually(
      async () => {
        if (!command.isRunning) throw new Error(`The import has ended too early: ${command.output}`);
        expect(await copied()).toBeGreaterThanOrEqual(wanted);
      },
      PATIENCE_MS,
      100,
    );
    await command.kill();
    console.log(`killed with ${await copied()} events after ${Math.round((performance.now() - begun) / 1000)} s`);
  }
  const command = start();
  const memory: number[] = [];
  const sampling = setInterval(async () => {
    const resident = await residentMiB(command.child.pid).catch(() => undefined);
    if (resident !== undefined) memory.push(resident);
  }, SAMPLE_MS);
  const [code] = await command.ended.finally(() => clearInterval(sampling));
  expect(code, command.output).toBe(1);

  const report = JSON.parse(await readFile(join(DATA_DIR, 'import-report.json'), 'utf8')) as ImportReport;
  const failed = report.incomplete.filter(({ state }) => state !== 'copied').map(({ id, state }) => `${id} ${state}`);
  const numbers = Array.from({ length: EVENTS }, (_, number) => number);
  const planted = numbers.filter(faultOf).map((number) => `${eventId(number)} failed`);
  expect(failed.toSorted()).toEqual([`${seriesId(BROKEN_SERIES)} failed`, ...planted].toSorted());
  expect(report.series).toMatchObject({ copied: SERIES - 1, failed: 1, pending: 0 });
  expect(report.events).toMatchObject({ copied: EVENTS - planted.length, failed: planted.length, pending: 0 });
  const quarter = Math.max(...memory.slice(Math.floor(memory.length * 0.75)));
  const half = Math.max(...memory.slice(0, Math.ceil(memory.length / 2)));
  console.log({
    ...{ seconds: Math.round((performance.now() - begun) / 1000), requests: server.requests.total },
    ...{ perSecond: server.requests.perSecond, atOnce: server.requests.atOnce },
    ...{ files: report.files, bytes: report.bytes, halfMiB: half, lastQuarterMiB: quarter, samples: memory.length },
  });
  expect(server.requests.perSecond).toBeLessThanOrEqual(RATE);
  if (EVENTS >= MANY) expect(quarter).toBeLessThanOrEqual(1.3 * half);
});

/** The resident memory of a process; Linux only. */
async function residentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}
