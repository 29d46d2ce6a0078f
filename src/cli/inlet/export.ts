import { resolve } from 'node:path';
import { systemOf } from '#maintenance/backup/backup.ts';
import { exportCatalogue } from '#maintenance/export/export-catalogue.ts';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { parseDateTime } from '#metadata/date-time.ts';
import { formatBytes } from '#platform/text/units.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { type Command, parseArguments, UsageError } from '../command.ts';
import { prepareDatabase } from '../prepare-database.ts';
import { callersFolder } from '../terminal/callers-folder.ts';
import { showProgress } from '../terminal/progress.ts';
import { withConnections } from './connections.ts';

const DEFAULT_PARALLEL = 4;
const MOST_PARALLEL = 64;

const USAGE = `npm run inlet -- export DIR [--series ID] [--since DATE] [--parallel N]

Writes the catalogue into a folder while Inlet runs: for each event and series a folder with one JSON, as in the API, and
the files; also playlists and groups. Another Inlet reads it with "import DIR"; docs/migrating.md describes it for other
programs. If the folder has an earlier export, writes only what has changed, and removes what has been deleted. The folder
contains all recordings and is readable only by its owner. Exits with 0 only if everything was written; new copies are
compared by SHA-256, earlier ones by size.

  --series ID   only this series and its events
  --since DATE  only events that start at this date or later, for example 2026-04-01, and their series
  --parallel N  write N events concurrently, 1 to ${MOST_PARALLEL}; by default ${DEFAULT_PARALLEL}`;

const OPTIONS = { series: { type: 'string' }, since: { type: 'string' }, parallel: { type: 'string' } } as const;

export const exportCommand: Command = {
  usage: USAGE,
  async run(args, { environment, signal, print, screen }) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const choice = { seriesId: values.series ?? null, since: parseSince(values.since) };
    const concurrency = parseParallel(values.parallel);
    const named = requireFolder(positionals[0]);
    return withConnections(environment, 'export', prepareDatabase, async ({ config, database, storage, connect }) => {
      const client = await connect();
      const progress = showProgress('export', screen);
      const { manifest, failed } = await exportCatalogue(resolve(callersFolder(environment), named), {
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
    });
  },
};

function requireFolder(named: string | undefined): string {
  if (!named) throw new UsageError('DIR is missing.');
  if (!/^https?:/i.test(named)) return named;
  throw new UsageError(
    `${named} is not a folder. To copy the catalogue into another Inlet, run "import" there with the address of this one.`,
  );
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
