import { resolve } from 'node:path';
import { systemOf } from '#maintenance/backup/backup.ts';
import { exportCatalogue } from '#maintenance/export/export-catalogue.ts';
import type { ExportChoice } from '#maintenance/export/item-list.ts';
import { baseOf } from '#maintenance/import/server-access.ts';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { formatBytes } from '#platform/text/units.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type Command, parseArguments, type Terminal, UsageError } from '../command.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { showProgress } from '../terminal/progress.ts';
import { type Connections, withConnections } from './connections.ts';
import { readCredentials } from './credentials.ts';
import { exportToInlet } from './export-to-inlet.ts';

const DEFAULT_PARALLEL = 4;
const MOST_PARALLEL = 64;

const USAGE = `npm run inlet -- export DIR|URL [--user NAME] [--password-stdin] [--series ID] [--since DATE] [--parallel N] [--groups]

Writes the catalogue into a folder while Inlet runs: for each event and series a folder with one JSON, as in the API, and
the files; also playlists and groups. Another Inlet reads it with "import DIR"; docs/migrating.md describes it for other
programs. If the folder has an earlier export, writes only what has changed, and removes what has been deleted. The folder
contains all recordings and is readable only by its owner. Exits with 0 only if everything was written; new copies are
compared by SHA-256, earlier ones by size.

With the URL of another Inlet, copies the catalogue there, with identifiers, files and publications; encodes nothing. Run it
again to continue after an interruption, or to copy what has changed. What was changed there since it was copied is left
alone, and nothing is deleted there. Exits with 0 only if no item has failed or is pending.

  --series ID       only this series and its events
  --since DATE      only events that start at this date or later, for example 2026-04-01, and their series
  --parallel N      write or send N items concurrently, 1 to ${MOST_PARALLEL}; by default ${DEFAULT_PARALLEL}
With a URL:
  --user NAME       an account of the other Inlet with ROLE_ADMIN
  --password-stdin  read its password from standard input; by default it is in INLET_PASSWORD
  --groups          copy groups, too. A group grants its roles, which may include ROLE_ADMIN, to the accounts there that
                    have the user names of its members
  --theirs          overwrite what was changed there, and copy again what was deleted there`;

const OPTIONS = {
  series: { type: 'string' },
  since: { type: 'string' },
  parallel: { type: 'string' },
  user: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  groups: { type: 'boolean' },
  theirs: { type: 'boolean' },
} as const;

export const exportCommand: Command = {
  usage: USAGE,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const [named] = positionals;
    if (!named) throw new UsageError('DIR or URL is missing.');
    const scope: ExportScope = {
      choice: { seriesId: values.series ?? null, since: parseSince(values.since) },
      concurrency: parseParallel(values.parallel),
    };
    const { environment } = terminal;
    const connected = (work: (connections: Connections) => Promise<number>) =>
      withConnections(environment, 'export', prepareDatabase, work);
    if (/^[a-z][a-z+.-]*:\/\//i.test(named)) {
      const { groups = false, theirs = false } = values;
      if (groups && (values.series ?? values.since) !== undefined)
        throw new UsageError('--groups cannot be combined with --series or --since.');
      const target = { base: baseOf(named), ...(await readCredentials(values, environment)), groups, theirs };
      return connected((connections) => exportToInlet(target, scope, connections, terminal));
    }
    const surplus = (['user', 'password-stdin', 'groups', 'theirs'] as const).find((name) => name in values);
    if (surplus) throw new UsageError(`--${surplus} requires a URL.`);
    return connected((connections) =>
      exportToFolder(resolve(callersFolder(environment), named), scope, connections, terminal),
    );
  },
};

/** The items to export, and how many of them concurrently. */
interface ExportScope {
  choice: ExportChoice;
  concurrency: number;
}

/** Writes the catalogue into a folder. @returns the exit code */
async function exportToFolder(
  folder: string,
  { choice, concurrency }: ExportScope,
  { config, database, storage, connect }: Connections,
  { signal, print, screen }: Terminal,
): Promise<number> {
  const client = await connect();
  const progress = showProgress('export', screen);
  const { manifest, failed } = await exportCatalogue(folder, {
    ...{ database, client, storage, choice, concurrency, signal },
    catalogs: await loadCatalogs(config.metadataDir),
    publicUrl: config.publicUrl,
    version: packageJson.version,
    system: await systemOf(client),
    onProgress: ({ fraction, events, bytes }) =>
      progress.update(fraction, `${events} events, ${formatBytes(bytes)} of files`),
  }).finally(progress.stop);
  for (const { kind, id, reason } of failed) print(`${kind} ${id}: ${reason}`);
  const { items, bytes } = manifest;
  const counts = Object.entries(items).map(([kind, count]) => `${count} ${kind}`);
  const found = `${counts.join(', ')} with ${formatBytes(bytes)} of files as of ${manifest.taken}`;
  print(failed.length === 0 ? `${found}.` : `${found}; ${failed.length} of them were not written.`);
  return failed.length === 0 ? 0 : 1;
}

function parseSince(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const since = parseDateTime(text);
  if (since) return since;
  throw new UsageError(
    `--since is ${JSON.stringify(text)}; it must be a date such as 2026-04-01 or 2026-04-01T08:15:00Z.`,
  );
}

function parseParallel(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PARALLEL;
  const parallel = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (parallel >= 1 && parallel <= MOST_PARALLEL) return parallel;
  throw new UsageError(`--parallel is ${JSON.stringify(text)}; it must be a number from 1 to ${MOST_PARALLEL}.`);
}
