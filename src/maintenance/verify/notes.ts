import { appendFile, type FileHandle, mkdir, open, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type pg from 'pg';
import { jsonLine } from '../json-lines.ts';
import type { Finding } from './finding.ts';

/** The name of the lock on the notes: only one verification at a time writes them. */
const LOCK = 'inlet notes of a verification';

/** Locks the notes for as long as the connection lives. @returns false when another verification has them */
export async function lockNotes(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked',
    [LOCK],
  );
  return rows[0]?.locked ?? false;
}

/** How far a verification is. */
export interface Position {
  /** The last shard that is done. */
  through: string;
  objects: number;
  /** Read for their digests. */
  bytes: number;
}

/** What a verification looks at; one that looks at something else does not go on with it. */
export interface Scope {
  digests: boolean;
}

type Line = { finding: Finding } | { position: Position } | { scope: Scope };

/**
 * What a verification has found and how far it is, in a file: one that is interrupted can go on, and a million findings
 * need no memory.
 */
export class Notes {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Begins anew. */
  async begin(scope: Scope): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, jsonLine({ scope } satisfies Line), { mode: 0o600 });
  }

  /**
   * Goes on with an interrupted run, as of the last position that it noted.
   *
   * @returns undefined when there is none
   */
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

  /** Notes what has been found. */
  async add(findings: readonly Finding[]): Promise<void> {
    if (findings.length > 0) await this.#append(findings.map((finding) => ({ finding })));
  }

  /** Notes that all findings up to there have been added. */
  async reach(position: Position): Promise<void> {
    await this.#append([{ position }]);
  }

  async *findings(): AsyncGenerator<Finding> {
    for await (const { line } of this.#lines()) if (line && 'finding' in line) yield line.finding;
  }

  /** Nothing is to be gone on with. */
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

/** @returns undefined for a line that was cut off when its process was killed */
function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}
