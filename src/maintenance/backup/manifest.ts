import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '#platform/text/json.ts';
import { replaceFile } from '../replace-file.ts';

/** An expected failure of a backup or restore. The message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

const NAME = 'manifest.json';
const FORMAT = 1;

const Schema = z.object({
  format: z.literal(FORMAT),
  /** Time of the snapshot. */
  taken: z.iso.datetime(),
  version: z.string(),
  /** Identifier of the installation (`systemOf`). Older backups have none and can be restored. */
  system: z.string().optional(),
  migrations: z.array(z.string()),
  database: z.string().regex(/^database-[0-9TZ]+$/),
  tables: z.record(z.string(), z.number()),
  objects: z.number(),
  bytes: z.number(),
});

/** The contents of a backup. Written last, so a folder without a manifest holds no complete backup. */
export type Manifest = z.infer<typeof Schema>;

/** Returns the name of the folder for the tables of a new backup. */
export function databaseFolder(taken: Date): string {
  return `database-${taken.toISOString().replaceAll(/[^0-9TZ]/g, '')}`;
}

/**
 * Reads the manifest of a backup.
 * @returns undefined if the folder holds no complete backup
 * @throws {BackupError}
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new BackupError(error.message);
  });
  if (text === undefined) return undefined;
  const parsed = Schema.safeParse(tryParseJson(text));
  if (!parsed.success) throw new BackupError(`${join(folder, NAME)} has a format that this version cannot read.`);
  return parsed.data;
}

/** Writes the manifest atomically, which completes the backup. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  await replaceFile(join(folder, NAME), `${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 2)}\n`);
}

/** Returns the error to throw for a file of a backup that cannot be read or was overwritten. */
export function unreadable(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOfFile = code === 'ENOENT' || code === 'EIO' || code.startsWith('Z_') || error instanceof SyntaxError;
  if (!isOfFile) return error;
  return new BackupError(`The backup is damaged: ${path} cannot be read (${(error as Error).message}).`);
}
