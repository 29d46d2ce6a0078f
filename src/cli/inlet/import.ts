import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CatalogueSource } from '#maintenance/import/catalogue-source.ts';
import { countSource, type SourceCount } from '#maintenance/import/count-source.ts';
import { openFolder } from '#maintenance/import/folder-source.ts';
import { importTotals, lockSource, noteActivity, openSource } from '#maintenance/import/import-items.queries.ts';
import { isComplete, readReport, reportLines } from '#maintenance/import/import-report.ts';
import { prepareEvents } from '#maintenance/import/prepare-events.ts';
import { runImport } from '#maintenance/import/run-import.ts';
import { openServer } from '#maintenance/import/server-source.ts';
import type { Outage } from '#maintenance/import/source-requests.ts';
import { type Catalogs, loadCatalogs } from '#metadata/catalogs.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { retryWhileDown } from '#platform/database/retry.ts';
import { namedHosts } from '#platform/setting/value-kinds.ts';
import { StagingLedger } from '#platform/storage/staging.ts';
import { createLogger } from '#platform/telemetry/log.ts';
import { formatBytes } from '#platform/text/units.ts';
import { loadDefinitions } from '#processing/load-definitions.ts';
import { type Command, parseArguments, type Terminal, UsageError } from '../command.ts';
import { CommandError, connectionFailure } from '../failure.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { type Progress, showProgress } from '../terminal/progress.ts';
import { type Connections, withConnections } from './connections.ts';
import { readCredentials } from './credentials.ts';

const USAGE = `npm run inlet -- import URL|DIR [--user NAME] [--password-stdin] [--series ID] [--since DATE] [--parallel N] [--dry-run] [--follow] [--groups]

Copies series and events with their identifiers, metadata, access control lists, schedules, files and publications, and
playlists: from another server over the External API, or from a folder of the command export. Encodes nothing, and never
writes to the source. Run it again to continue after an interruption, or to copy what has changed there. What was changed
here since it was copied is left alone. Prints a report, and writes it as JSON to DATA_DIR/import-report.json. Exits with
0 only if everything was copied.

  --user NAME       an account of the other server that may read everything, best with ROLE_ADMIN
  --password-stdin  read its password from standard input; by default it is in INLET_PASSWORD
  --series ID       only this series and its events, without playlists and groups
  --since DATE      only series that were created, and events that start, on this day or later, such as 2026-01-31;
                    without playlists and groups
  --parallel N      copy so many items concurrently (1 to 32); by default 4
  --rate N          send so many requests a second (1 to 200); by default 50
  --node HOST       a further host of the other server's installation with files, such as a presentation node. It gets the
                    user name and the password, too; may be repeated
  --media-host HOST a further host of files that may have a private address; may be repeated
  --dry-run         count what would be copied, report what cannot be, and change nothing
  --groups          copy groups, too. A group grants its roles, which may include ROLE_ADMIN, to the accounts here that
                    have the user names of its members
  --follow          look for changes at the other server until this command is stopped
  --prepare         afterwards, make the renditions and previews that published recordings lack, while no worker has
                    anything else to do
  --theirs          overwrite what was changed here, and copy again what was deleted here`;

const OPTIONS = {
  user: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  series: { type: 'string' },
  since: { type: 'string' },
  parallel: { type: 'string' },
  rate: { type: 'string' },
  node: { type: 'string', multiple: true },
  'media-host': { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
  groups: { type: 'boolean' },
  follow: { type: 'boolean' },
  prepare: { type: 'boolean' },
  theirs: { type: 'boolean' },
} as const;

const ACTIVITY_MS = 5_000;
const MAX_PARALLEL = 32;
const MAX_RATE = 200;

interface Order {
  seriesId: string | undefined;
  since: Date | undefined;
  parallel: number;
  isDryRun: boolean;
  groups: boolean;
  follow: boolean;
  prepare: boolean;
  theirs: boolean;
}

export const importCommand: Command = {
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const [url] = positionals;
    if (!url) throw new UsageError('URL or DIR is missing.');
    if (values.groups && (values.series ?? values.since) !== undefined)
      throw new UsageError('--groups cannot be combined with --series or --since.');
    if (values.prepare && values.follow) throw new UsageError('--prepare and --follow cannot be combined.');
    const { environment, signal, screen } = terminal;
    const order: Order = {
      seriesId: values.series,
      since: dateIn('--since', values.since),
      parallel: numberIn('--parallel', values.parallel, 4, MAX_PARALLEL),
      isDryRun: values['dry-run'] ?? false,
      groups: values.groups ?? false,
      follow: values.follow ?? false,
      prepare: values.prepare ?? false,
      theirs: values.theirs ?? false,
    };
    const outage: { now: Outage | undefined } = { now: undefined };
    const open = { ...terminal, outage: () => outage.now };
    if (!/^[a-z][a-z+.-]*:\/\//i.test(url)) {
      return importFrom(await openFolder(resolve(callersFolder(environment), url)), order, open);
    }
    const source = await openServer(url, {
      ...{ ...(await readCredentials(values, environment)), signal },
      concurrency: order.parallel,
      requestsPerSecond: numberIn('--rate', values.rate, 50, MAX_RATE),
      nodes: hostsIn('--node', values.node ?? []),
      mediaHosts: hostsIn('--media-host', values['media-host'] ?? []),
      onWait: (now) => {
        if (now && !outage.now) screen.write(`Waiting for the source: ${now.reason}.\n`);
        outage.now = now;
      },
      onWarning: (warning) => screen.write(`${warning}\n`),
    });
    return importFrom(source, order, open);
  },
};

/** Imports from an open source. @returns the exit code */
async function importFrom(
  source: CatalogueSource,
  order: Order,
  terminal: Terminal & { outage: () => Outage | undefined },
): Promise<number> {
  return withConnections(terminal.environment, 'import', prepareDatabase, async (connections) => {
    const catalogs = await loadCatalogs(connections.config.metadataDir);
    const { seriesId } = order;
    if (seriesId !== undefined && !(await source.findSeries(seriesId))) {
      terminal.screen.write(`The source has no series ${seriesId}, or does not show it. Only its events are read.\n`);
    }
    return order.isDryRun
      ? dryRun(source, order, catalogs, terminal)
      : copyFrom(source, { ...order, catalogs }, connections, terminal);
  });
}

async function dryRun(
  source: CatalogueSource,
  { seriesId, since, groups }: Order,
  catalogs: Catalogs,
  { signal, print, screen }: Terminal,
): Promise<number> {
  const progress = showProgress('count', screen);
  const noteOf = ({ series, events, playlists, ...count }: SourceCount) =>
    [
      `${series} series, ${events} events`,
      ...(playlists > 0 ? [`${playlists} playlists`] : []),
      ...(groups && count.groups > 0 ? [`${count.groups} groups`] : []),
    ].join(', ');
  const onItem = (count: SourceCount) => progress.update(0, noteOf(count));
  const choice = { seriesId, since, groups, signal };
  const count = await countSource(source, choice, catalogs, onItem).finally(progress.stop);
  for (const warning of count.warnings) print(warning);
  for (const [sentence, { items, example }] of count.notes) print(`${items} × ${sentence} (for example ${example})`);
  if (!groups && count.groups > 0) print(`Groups that are copied only with --groups: ${count.groups}.`);
  print(`${noteOf(count)}, ${count.files} published files with ${formatBytes(count.bytes)}. Nothing was copied.`);
  return 0;
}

async function copyFrom(
  source: CatalogueSource,
  { catalogs, theirs, prepare, ...choice }: Order & { catalogs: Catalogs },
  { config, database, storage, connect }: Connections,
  { signal, print, screen, outage }: Terminal & { outage: () => Outage | undefined },
): Promise<number> {
  const begun = performance.now();
  const sourceId = await openSource(database, source.name);
  const log = createLogger({ level: 'warn', format: config.log.format });
  const progress = showProgress('import', screen);
  const tell = async () => {
    await noteActivity(database, sourceId, outage());
    showTotals(await importTotals(database, sourceId), progress);
  };
  const activity = setInterval(() => void tell().catch(() => undefined), ACTIVITY_MS);
  const onDeleted = (kind: string, id: string) =>
    print(`${kind} ${id}: deleted here, because it was deleted at the source.`);
  const onWarning = (warning: string) => void screen.write(`${warning}\n`);
  const services = { source, sourceId, database, storage, catalogs, theirs, signal, onDeleted, onWarning };
  let isWaiting = false;
  const copy = async () => {
    await tell();
    isWaiting = false;
    const lock = await connect();
    const staging = new StagingLedger({ database, storage, owner: `import-${randomUUID()}`, log });
    try {
      if (!(await lockSource(lock, sourceId))) throw new CommandError('Another import from this source is running.');
      await runImport(choice, { ...services, staging, gapMs: config.scheduling.minGapMs });
      if (!prepare) return;
      const definitions = await loadDefinitions(config.workflowsDir);
      const onProgress = ({ left, running }: { left: number; running: number }) =>
        progress.update(1, `${left} recordings left to prepare, ${running} running`);
      await prepareEvents({ database, sourceId, definitions, signal, parallel: choice.parallel, onProgress });
    } finally {
      staging.close();
      await lock.end().catch(() => undefined);
    }
  };
  const onWait = (error: unknown) => {
    if (!isWaiting) screen.write(`Waiting for the database: ${connectionFailure(error)}\n`);
    isWaiting = true;
  };
  try {
    await retryWhileDown({ signal, onWait }, copy);
  } catch (error) {
    if (!signal.aborted) throw error;
    screen.write('Interrupted. Run the command again to continue.\n');
  } finally {
    clearInterval(activity);
    await tell().catch(() => undefined);
    progress.stop();
  }
  const report = await readReport(database, { id: sourceId, name: source.name }, (performance.now() - begun) / 1000);
  await writeFile(join(config.dataDir, 'import-report.json'), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  for (const line of reportLines(report)) print(line);
  return isComplete(report) && !signal.aborted ? 0 : 1;
}

function showTotals(totals: Awaited<ReturnType<typeof importTotals>>, progress: Progress): void {
  const sum = (rows: typeof totals) => rows.reduce((all, { items }) => all + items, 0);
  const bytes = totals.reduce((all, row) => all + row.bytes, 0);
  const [done, all] = [sum(totals.filter(({ state }) => state !== 'pending')), sum(totals)];
  progress.update(all === 0 ? 0 : done / all, `${done} of ${all} items, ${formatBytes(bytes)}`);
}

function dateIn(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const date = parseDateTime(value);
  if (date) return date;
  throw new UsageError(`${name} is ${JSON.stringify(value)}; it must be a date such as 2026-01-31.`);
}

function hostsIn(name: string, values: readonly string[]) {
  const parsed = values.length === 0 ? { data: [] } : namedHosts.safeParse(values.join(','));
  if (parsed.data) return parsed.data;
  throw new UsageError(`${name} is ${JSON.stringify(values.join(','))}; it must be a host such as media.example.org.`);
}

function numberIn(name: string, value: string | undefined, usual: number, most: number): number {
  if (value === undefined) return usual;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= 1 && number <= most) return number;
  throw new UsageError(`${name} is ${JSON.stringify(value)}; it must be a whole number from 1 to ${most}.`);
}
