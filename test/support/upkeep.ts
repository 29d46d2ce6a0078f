import { tmpdir } from 'node:os';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Command } from '#cli/command.ts';
import { backupCommand } from '#cli/inlet/backup.ts';
import { verifyCommand } from '#cli/inlet/verify.ts';
import { createTestApp, type TestApp } from './app.ts';
import { created, post } from './app-uploads.ts';
import { bytes, source } from './bytes.ts';
import { createEmptyDatabase } from './database.ts';
import { temporaryFolder } from './folders.ts';
import { eventFields, file } from './form.ts';

/** What a command is configured by. */
export interface System {
  databaseUrl: string;
  dataDir: string;
  /** The bucket, if objects are in one. */
  env: Record<string, string>;
}

/** The exit code of a command and the lines that it printed. */
export interface Said {
  code: number;
  lines: string[];
}

/** A command that found nothing wrong. */
export const SOUND: Said = { code: 0, lines: [] };
export const VIDEO = { mediatype: 'video/mp4' };
const QUIET = { write: () => true, isTTY: false } as unknown as NodeJS.WriteStream;

/** Runs a command of `npm run inlet` in this process. */
export async function say(
  command: Command,
  { databaseUrl, dataDir, env }: System,
  args: readonly string[] = [],
  signal = new AbortController().signal,
): Promise<Said> {
  const lines: string[] = [];
  const environment = {
    ...{ TMPDIR: tmpdir(), PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: dataDir },
    ...env,
  };
  const print = (line: string) => void lines.push(line);
  const code = await command.run(args, { environment, signal, print, screen: QUIET });
  return { code, lines };
}

/** A database without a table and an empty folder, for the test alone. */
export async function emptySystem(env: Record<string, string> = {}): Promise<System> {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  return { databaseUrl: url, dataDir: await temporaryFolder(), env };
}

/** A connection for the test alone. */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url).on('error', () => undefined);
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

/** An application with what backup, verification and repair work on. */
export class Upkeep {
  readonly app: TestApp;
  readonly system: System;

  constructor(app: TestApp, env: Record<string, string>) {
    // Of what was restored, the test database is not the one.
    this.app = { ...app, database: app.context.database };
    this.system = { databaseUrl: app.context.databaseUrl, dataDir: app.context.config.dataDir, env };
  }

  run(command: Command, ...args: string[]): Promise<Said> {
    return say(command, this.system, args);
  }

  verify(...args: string[]): Promise<Said> {
    return this.run(verifyCommand, ...args);
  }

  /** @returns the folder of the backup, which may lack something */
  async backUp(folder?: string): Promise<string> {
    const target = folder ?? (await temporaryFolder());
    await this.run(backupCommand, target);
    return target;
  }

  connect(): Promise<pg.Client> {
    return connected(this.system.databaseUrl);
  }

  /** @returns the identifier of an event with one recording, or as many as there are data */
  async upload(...data: Buffer[]): Promise<string> {
    const all = data.length > 0 ? data : [bytes(1000)];
    const files = all.map((each, i) => file(i === 0 ? 'presenter' : 'presentation', 'camera.mp4', each));
    return created(await post(this.app, [...eventFields(), ...files]));
  }

  async read(event: string): Promise<unknown> {
    return (await this.app.request(`/api/events/${event}`)).json();
  }

  async delete(event: string): Promise<void> {
    await this.app.request(`/api/events/${event}`, { method: 'DELETE' });
  }

  /** The key of an event's first track. */
  async trackOf(event: string): Promise<string> {
    const tracks = this.app.database.selectFrom('tracks').select('object_key').orderBy('position');
    return (await tracks.where('event_id', '=', event).executeTakeFirstOrThrow()).object_key;
  }

  /** The key of what is published of an event: of its best rendition, if of media. */
  async elementOf(event: string, kind = 'media'): Promise<string> {
    const elements = this.app.database
      .selectFrom('publication_elements')
      .select('object_key')
      .orderBy('position')
      .orderBy('filename')
      .where('event_id', '=', event)
      .where('kind', '=', kind);
    return (await elements.executeTakeFirstOrThrow()).object_key;
  }

  /** Changes what the rows say of tracks: of one event, or of all. */
  async setTracks(values: { size?: number; object_key?: string; sha256?: string | null }, event?: string) {
    const update = this.app.database.updateTable('tracks').set(values);
    await (event ? update.where('event_id', '=', event) : update).execute();
  }

  async keys(): Promise<string[]> {
    return (await Array.fromAsync(this.app.storage.list(''))).map(({ key }) => key);
  }

  pathOf(key: string): string {
    return this.app.storage.localPath(key) ?? '';
  }

  async contentOf(key: string): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(await this.app.storage.get(key)));
  }

  async put(key: string, data: Buffer): Promise<void> {
    await this.app.storage.remove([key]);
    await this.app.storage.put(key, source(data), VIDEO);
  }

  /** Changes one bit of an object. @returns what it is now */
  async flip(key: string): Promise<Buffer> {
    const data = await this.contentOf(key);
    data[500] = (data[500] ?? 0) ^ 1;
    await this.put(key, data);
    return data;
  }

  /** What is staged, as "owner key". */
  async ledger(): Promise<string[]> {
    const entries = await this.app.database.selectFrom('staging').select(['object_key', 'owner']).execute();
    return entries.map(({ object_key, owner }) => `${owner} ${object_key}`);
  }
}

/** An application for the test alone, by default with objects in a folder. */
export async function openUpkeep(env: Record<string, string> = {}): Promise<Upkeep> {
  // The SDK of S3 reads its keys from the environment.
  Object.assign(process.env, Object.fromEntries(Object.entries(env).filter(([name]) => /^AWS_/.test(name))));
  const app = await createTestApp(undefined, env);
  onTestFinished(() => app.close());
  return new Upkeep(app, env);
}
