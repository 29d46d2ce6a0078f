import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const NAME = 'manifest.json';
const FORMAT = 1;

const Schema = z.object({
  format: z.literal(FORMAT),
  /** When the database was as the backup has it. */
  taken: z.iso.datetime(),
  /** Inlet's version. */
  version: z.string(),
  /** Whose it is (`systemOf`); backups can be restored that do not say it. */
  system: z.string().optional(),
  /** Names of the files of `sql/` that made the tables. */
  migrations: z.array(z.string()),
  /** The folder of the tables. */
  database: z.string().regex(/^database-[0-9TZ]+$/),
  /** Rows of each table. */
  tables: z.record(z.string(), z.number()),
  objects: z.number(),
  /** Of all objects. */
  bytes: z.number(),
});

/** What a backup holds. It is written last: a folder without one holds no complete backup. */
export type Manifest = z.infer<typeof Schema>;

/** The folder of tables of a backup that is taken now. */
export function databaseFolder(taken: Date): string {
  return `database-${taken.toISOString().replaceAll(/[^0-9TZ]/g, '')}`;
}

/** @returns undefined for a folder that holds no complete backup. @throws when it is of another format */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = Schema.safeParse(jsonOf(text));
  if (!parsed.success) throw new Error(`${join(folder, NAME)} is not of a backup that this version knows.`);
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes the backup count, in place of the one before. */
export async function writeManifest(folder: string, manifest: Omit<Manifest, 'format'>): Promise<void> {
  const path = join(folder, NAME);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** A backup cannot be read as it was written. */
export class BackupDamaged extends Error {
  override name = 'BackupDamaged';
}

/** What to throw when a file of a backup could not be read, or has been written over. */
export function unreadable(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isOfFile = code === 'ENOENT' || code === 'EIO' || code.startsWith('Z_') || error instanceof SyntaxError;
  if (!isOfFile) return error;
  return new BackupDamaged(`The backup is damaged: ${path} cannot be read (${(error as Error).message}).`);
}
