import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import {
  ExportFolderError,
  type ExportManifest,
  ITEM_KINDS,
  type ItemKind,
  itemFolder,
  listedItems,
  readManifest,
} from '../import/folder-format.ts';

/** Names in the folder of an export, finished or not, and the folder that file systems create. */
const OURS = new RegExp(`^(catalogue\\.json(\\.new)?|(${ITEM_KINDS.join('|')})(\\.jsonl(\\.new)?)?|lost\\+found)$`);

type Scope = Pick<ExportManifest, 'source' | 'series' | 'since'>;

/**
 * Creates the folder of an export, or checks that an existing one is empty or holds an export of the same scope.
 *
 * @returns the manifest of the earlier export, if any
 * @throws {ExportFolderError}
 */
export async function openExportFolder(folder: string, scope: Scope): Promise<ExportManifest | undefined> {
  const names = await mkdir(folder, { recursive: true, mode: 0o700 })
    .then(() => readdir(folder))
    .catch((error: Error) => {
      throw new ExportFolderError(`${folder} cannot be used as folder of an export: ${error.message}`);
    });
  const foreign = names.find((name) => !OURS.test(name));
  if (foreign !== undefined)
    throw new ExportFolderError(
      `${folder} contains "${foreign}", which is not part of an export. Use an empty folder or the folder of an earlier export.`,
    );
  const manifest = await readManifest(folder);
  if (!manifest) return undefined;
  if (manifest.source.system !== scope.source.system)
    throw new ExportFolderError(
      `${folder} holds the export of another database, which would be replaced. Use another folder, or check DATABASE_URL.`,
    );
  if (manifest.series !== scope.series || manifest.since !== scope.since)
    throw new ExportFolderError(
      `${folder} holds an export ${describeScope(manifest)}, which would be replaced. Use the same options or another folder.`,
    );
  return manifest;
}

function describeScope({ series, since }: Pick<ExportManifest, 'series' | 'since'>): string {
  const parts = [series !== null && `--series ${series}`, since !== null && `--since ${since}`].filter(Boolean);
  return parts.length === 0 ? 'of the whole catalogue' : `with ${parts.join(' ')}`;
}

/** Keeps other exports out of a folder while the connection lives. @throws {ExportFolderError} while another one runs */
export async function lockFolder(client: pg.Client, folder: string): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>(
    "SELECT pg_try_advisory_lock(hashtextextended('inlet export ' || $1, 0)) AS locked",
    [await realpath(folder)],
  );
  if (!rows[0]?.locked)
    throw new ExportFolderError(`Another export to ${folder} is in progress. Wait for it to finish.`);
}

/** Removes the items of a kind that the list does not have. Reads the list several times, so that memory stays flat. */
export async function removeUnlisted(folder: string, kind: ItemKind): Promise<void> {
  const root = join(folder, kind);
  const shards = await readdir(root).catch(() => []);
  for (const [digit, some] of Map.groupBy(shards, (shard) => shard.slice(0, 1))) {
    const listed = new Set<string>();
    for await (const id of listedItems(folder, kind)) {
      const path = itemFolder(kind, id);
      if (path.startsWith(`${kind}/${digit}`)) listed.add(path);
    }
    for (const shard of some) await removeUnlistedOf(folder, `${kind}/${shard}`, listed);
  }
}

async function removeUnlistedOf(folder: string, shard: string, listed: ReadonlySet<string>): Promise<void> {
  const names = await readdir(join(folder, shard));
  const unlisted = names.filter((name) => !listed.has(`${shard}/${name}`));
  for (const name of unlisted) await rm(join(folder, shard, name), { recursive: true });
  if (unlisted.length === names.length) await rm(join(folder, shard), { recursive: true });
}
