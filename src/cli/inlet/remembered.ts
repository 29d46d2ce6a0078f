import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns a private folder for the state of unfinished commands. */
async function folderOf(environment: NodeJS.ProcessEnv, ...below: string[]): Promise<string> {
  const state = environment.XDG_STATE_HOME || join(homedir(), '.local/state');
  const folder = join(state, 'inlet', ...below);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Returns the file with the URLs of unfinished uploads. */
export async function rememberedUploads(environment: NodeJS.ProcessEnv): Promise<string> {
  return join(await folderOf(environment), 'uploads.json');
}

/** The event of a recording that an interrupted command has sent. */
export interface RememberedEvent {
  /** Undefined if the recording was not sent yet. */
  identifier: string | undefined;
  remember(identifier: string): Promise<void>;
  forget(): Promise<void>;
}

/**
 * Reads the stored event of a recording, which outlives the server's record of the upload and of the request.
 *
 * @param recording a JSON value that identifies the recording
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
