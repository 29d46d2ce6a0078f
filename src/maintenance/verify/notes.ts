import { appendFile, type FileHandle, mkdir, open, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type pg from 'pg';
import { jsonLine } from '../json-lines.ts';
import type { Finding } from './finding.ts';

/** The name of the lock, so that only one verification writes the notes. */
const LOCK = 'inlet notes of a verification';

/** Locks the notes until the connection closes. @returns false if another verification holds the lock */
export async function lockNotes(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked',
    [LOCK],
  );
  return rows[0]?.locked ?? false;
}

/** The progress of a verification. */
export interface Position {
  /** The last finished shard. */
  through: string;
  objects: number;
  /** Bytes read for digests. */
  bytes: number;
}

/** The options of a verification. A run with other options cannot be resumed. */
export interface Scope {
  digests: boolean;
}

type Line = { finding: Finding } | { position: Position } | { scope: Scope };

/**
 * A file with the findings and the progress of a verification. An interrupted run can be resumed, and a million
 * findings need no memory.
 */
export class Notes {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async begin(scope: Scope): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, jsonLine({ scope } satisfies Line), { mode: 0o600 });
  }

  /** Resumes an interrupted run at its last position. @returns undefined if no run can be resumed */
  async resume(scope: Scope): Promise<Position | undefined> {
    let found: Position | undefined;
    let read = 0;
    let kept = 0;
    for await (const { line, bytes } of this.#lines()) {
      read += bytes;
      if (line && 'scope' in line && line.scope.digests !== scope.digests) return undefined;
      if (!line || !('position' in line)) continue;
      found = line.position;
      kept = read;
    }
    if (found) await truncate(this.#path, kept);
    return found;
  }

  async add(findings: readonly Finding[]): Promise<void> {
    if (findings.length > 0) await this.#append(findings.map((finding) => ({ finding })));
  }

  /** Records that all findings up to a position have been added. */
  async reach(position: Position): Promise<void> {
    await this.#append([{ position }]);
  }

  async *findings(): AsyncGenerator<Finding> {
    for await (const { line } of this.#lines()) if (line && 'finding' in line) yield line.finding;
  }

  /** Removes the file, so that nothing can be resumed. */
  async end(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #append(lines: readonly Line[]): Promise<void> {
    await appendFile(this.#path, lines.map(jsonLine).join(''));
  }

  async *#lines(): AsyncGenerator<{ line: Line | undefined; bytes: number }> {
    const file = await openUnlessMissing(this.#path);
    if (!file) return;
    for await (const text of file.readLines({ encoding: 'utf8' })) {
      yield { line: parse(text), bytes: Buffer.byteLength(text) + 1 };
    }
  }
}

async function openUnlessMissing(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** @returns undefined for a line that was cut off by a kill */
function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}
