import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { type MediaTools, requireSafeTools } from '#platform/media/tools/tools.ts';
import type { StoragePlace } from '#platform/storage/backend.ts';
import { formatBytes } from '#platform/text/units.ts';
import type { Check, Diagnosis } from './check.ts';

/** A recording of four hours, with what is made of it. */
const ROOM_BYTES = 20e9;
const LEAST_BYTES = 1e9;
const EXPIRY_DAYS = 14;
const DAY_MS = 86_400_000;
const ALL = constants.R_OK | constants.W_OK | constants.X_OK;

/** Whether the folders are there, may be written, are nobody else's, and have room. */
export function foldersCheck(dataDir: string, temporaryFolder: string, storage: Pick<StoragePlace, 'folders'>): Check {
  return {
    name: 'folders',
    todo: `DATA_DIR and TMPDIR say where they are; both have to belong to the account that Inlet runs as.`,
    run: async () => {
      const diagnoses: Diagnosis[] = [];
      for (const [name, path] of [
        ['DATA_DIR', dataDir],
        ['TMPDIR', temporaryFolder],
      ] as const) {
        await mkdir(path, { recursive: true });
        await access(path, ALL);
        const { bavail, bsize } = await statfs(path);
        const free = bavail * bsize;
        const found = `${name} ${path}, ${formatBytes(free)} free`;
        const others = name === 'DATA_DIR' && ((await stat(path)).mode & 0o002) !== 0;
        if (free < LEAST_BYTES) diagnoses.push({ state: 'fail', found, todo: 'Make room there.' });
        else if (others)
          diagnoses.push({
            state: 'fail',
            found: `${found}, everybody may write there`,
            todo: `chmod o-w ${path}`,
          });
        else if (free < ROOM_BYTES) {
          const todo = 'A long recording with what is made of it needs about 20 GB while it is processed.';
          diagnoses.push({ state: 'warn', found, todo });
        } else diagnoses.push({ state: 'ok', found });
      }
      for await (const path of usedFolders(dataDir, storage)) {
        if (await isUsable(path)) continue;
        const todo = `Give it to the account that Inlet runs as: chown -R ACCOUNT ${dataDir}`;
        diagnoses.push({ state: 'fail', found: `${path} may not be read and written`, todo });
        break;
      }
      return diagnoses;
    },
  };
}

/** The folders that processes write into, as far as they are there. */
async function* usedFolders(dataDir: string, storage: Pick<StoragePlace, 'folders'>): AsyncGenerator<string> {
  yield join(dataDir, 'work');
  if (storage.folders) yield* storage.folders();
}

async function isUsable(path: string): Promise<boolean> {
  return access(path, ALL).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

/** Whether clients reach the server by an encrypted connection that they can trust. */
export function tlsCheck(publicUrl: string, isLocal: boolean): Check {
  const { protocol, hostname, port } = new URL(publicUrl);
  return {
    name: 'tls',
    todo: `PUBLIC_URL is ${publicUrl}; see whether the proxy there runs, and whether its certificate is for that name.`,
    run: async (signal): Promise<Diagnosis> => {
      if (protocol === 'http:') {
        if (isLocal) return { state: 'ok', found: 'only this machine can ask, nothing is encrypted' };
        const todo = 'Put a proxy with TLS in front and set PUBLIC_URL to its https address.';
        return { state: 'warn', found: `PUBLIC_URL is ${publicUrl}: passwords are sent in the clear`, todo };
      }
      const expires = await certificateEnd(hostname, Number(port || 443), signal);
      const days = Math.floor((expires.getTime() - Date.now()) / DAY_MS);
      const found = `the certificate of ${hostname} is good for ${days} days`;
      if (days < EXPIRY_DAYS) return { state: 'warn', found, todo: 'Have it renewed.' };
      return { state: 'ok', found };
    },
  };
}

/** @throws when nobody answers, or the certificate is not to be trusted */
function certificateEnd(host: string, port: number, signal: AbortSignal): Promise<Date> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername: host }, () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.end();
    });
    socket.once('error', reject);
    signal.addEventListener('abort', () => socket.destroy(new Error('It does not answer.')), { once: true });
  });
}

const run = promisify(execFile);
/** What the built-in operations encode with. */
const ENCODERS = ['libx264', 'aac', 'mjpeg'];
const LIMIT_MS = 20_000;

/**
 * Whether ffmpeg is there, can do what is needed, and is not too old to be given files of strangers.
 *
 * @param isLocal whether only this machine can ask
 * @param allowed whether the one from npm may be used all the same
 */
export function toolsCheck(
  locate: () => Promise<MediaTools>,
  { isLocal, allowed }: { isLocal: boolean; allowed: boolean },
): Check {
  return {
    name: 'ffmpeg',
    todo: 'Install ffmpeg (on Debian: apt install ffmpeg), or set FFMPEG_PATH and FFPROBE_PATH.',
    run: async (signal): Promise<Diagnosis> => {
      const tools = await locate();
      const options = { signal, timeout: LIMIT_MS };
      const [{ stdout: version }, { stdout: encoders }] = await Promise.all([
        run(tools.ffmpeg, ['-hide_banner', '-version'], options),
        run(tools.ffmpeg, ['-hide_banner', '-encoders'], options),
        run(tools.ffprobe, ['-hide_banner', '-version'], options),
      ]);
      const found = /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'of an unknown version';
      const lacking = ENCODERS.filter((name) => !new RegExp(`^ \\S+ ${name} `, 'm').test(encoders));
      if (lacking.length > 0) {
        const todo = 'Install a complete ffmpeg; that of Debian is one.';
        return { state: 'fail', found: `${found} cannot encode ${lacking.join(', ')}`, todo };
      }
      // No worker starts where it throws.
      if (requireSafeTools(tools, isLocal, allowed)) {
        const todo = 'It is of 2018 and for a first try: apt install ffmpeg before strangers send files.';
        return { state: 'warn', found: `${found}, which came from npm`, todo };
      }
      return { state: 'ok', found: `${found} (${tools.ffmpeg})` };
    },
  };
}
