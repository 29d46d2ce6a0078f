import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where commands remember what has not come to its end; whoever reads it can go on with that. */
async function folderOf(environment: NodeJS.ProcessEnv, ...below: string[]): Promise<string> {
  const state = environment.XDG_STATE_HOME || join(homedir(), '.local/state');
  const folder = join(state, 'inlet', ...below);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The file with the addresses of uploads that no event has yet. */
export async function rememberedUploads(environment: NodeJS.ProcessEnv): Promise<string> {
  return join(await folderOf(environment), 'uploads.json');
}

/** The event of a recording whose processing has not come to rest. */
export interface RememberedEvent {
  /** Undefined when there is none. */
  identifier: string | undefined;
  remember(identifier: string): Promise<void>;
  forget(): Promise<void>;
}

/**
 * What is remembered of a recording, for longer than the server does of its upload and of the request that made the event.
 *
 * @param recording all that makes it another recording, as JSON may say it
 */
export async function rememberedEvent(environment: NodeJS.ProcessEnv, recording: unknown): Promise<RememberedEvent> {
  const name = createHash('sha256').update(JSON.stringify(recording)).digest('hex');
  const path = join(await folderOf(environment, 'events'), name);
  const identifier = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return {
    identifier: identifier || undefined,
    remember: (made) => writeFile(path, made, { mode: 0o600 }),
    forget: () => rm(path, { force: true }),
  };
}
