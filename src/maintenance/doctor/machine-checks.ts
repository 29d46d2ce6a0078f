import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { loadCatalogs } from '#metadata/catalogs.ts';
import { type MediaTools, requireSafeTools } from '#platform/media/tools/locate-tools.ts';
import { requireFeatures } from '#platform/media/tools/required-features.ts';
import type { StoragePlace } from '#platform/storage/storage-backend.ts';
import { formatBytes } from '#platform/text/units.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import type { Check, Diagnosis } from './check.ts';

/** The space for a recording of four hours and its processing. */
const ROOM_BYTES = 20e9;
const LEAST_BYTES = 1e9;
const EXPIRY_DAYS = 14;
const DAY_MS = 86_400_000;
const ALL = constants.R_OK | constants.W_OK | constants.X_OK;

/** Checks that the folders exist, are writable, are not writable by all users, and have space. */
export function foldersCheck(dataDir: string, temporaryFolder: string, storage: Pick<StoragePlace, 'folders'>): Check {
  return {
    name: 'folders',
    todo: 'Check DATA_DIR and TMPDIR. Both must belong to the account that runs Inlet.',
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
        if (free < LEAST_BYTES) diagnoses.push({ state: 'fail', found, todo: 'Free disk space.' });
        else if (others)
          diagnoses.push({
            state: 'fail',
            found: `${found}, writable by all users`,
            todo: `chmod o-w ${path}`,
          });
        else if (free < ROOM_BYTES) {
          const todo = 'Processing a long recording needs about 20 GB.';
          diagnoses.push({ state: 'warn', found, todo });
        } else diagnoses.push({ state: 'ok', found });
      }
      for await (const path of usedFolders(dataDir, storage)) {
        if (await isUsable(path)) continue;
        const todo = `Make the account that runs Inlet the owner: chown -R ACCOUNT ${dataDir}`;
        diagnoses.push({ state: 'fail', found: `${path} is not readable and writable`, todo });
        break;
      }
      return diagnoses;
    },
  };
}

/** Lists the folders that processes write to. */
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

/** Checks that clients reach the server over a trusted TLS connection. */
export function tlsCheck(publicUrl: string, isLocal: boolean): Check {
  const { protocol, hostname, port } = new URL(publicUrl);
  return {
    name: 'tls',
    todo: `Check that the proxy at ${publicUrl} (PUBLIC_URL) runs and that its certificate is valid for that name.`,
    run: async (signal): Promise<Diagnosis> => {
      if (protocol === 'http:') {
        if (isLocal) return { state: 'ok', found: 'reachable from this machine only, without TLS' };
        const todo = 'Run Inlet behind a proxy with TLS and set PUBLIC_URL to its https URL.';
        return { state: 'warn', found: `PUBLIC_URL is ${publicUrl}: passwords are sent unencrypted`, todo };
      }
      const expires = await certificateEnd(hostname, Number(port || 443), signal);
      const days = Math.floor((expires.getTime() - Date.now()) / DAY_MS);
      const found = `the certificate of ${hostname} is valid for ${days} days`;
      if (days < EXPIRY_DAYS) return { state: 'warn', found, todo: 'Renew the certificate.' };
      return { state: 'ok', found };
    },
  };
}

/** @throws if there is no answer or the certificate is not trusted */
function certificateEnd(host: string, port: number, signal: AbortSignal): Promise<Date> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername: host }, () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.end();
    });
    socket.once('error', reject);
    signal.addEventListener('abort', () => socket.destroy(new Error('The server does not answer.')), { once: true });
  });
}

const run = promisify(execFile);
const LIMIT_MS = 20_000;

/**
 * Checks that ffmpeg is installed, was built with what operations use, and is new enough for untrusted files.
 * @param isLocal true if Inlet is reachable from this machine only
 * @param allowed true if the ffmpeg from npm is allowed anyway
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
      const [{ stdout: version }] = await Promise.all([
        run(tools.ffmpeg, ['-hide_banner', '-version'], options),
        run(tools.ffprobe, ['-hide_banner', '-version'], options),
        requireFeatures(tools),
      ]);
      const found = /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'unknown version';
      // Workers do not start if this throws.
      if (requireSafeTools(tools, isLocal, allowed)) {
        const todo =
          'This version is from 2018, for trials only. Install a current one before you accept untrusted files: apt install ffmpeg.';
        return { state: 'warn', found: `${found}, installed by npm`, todo };
      }
      return { state: 'ok', found: `${found} (${tools.ffmpeg})` };
    },
  };
}

/**
 * Checks the workflow definitions and metadata catalogs of the site. Inlet does not start with an invalid one.
 * @param load loads the definitions as workers do
 */
export function definitionsCheck(load: () => Promise<WorkflowDefinitions>, metadataDir: string | undefined): Check {
  return {
    name: 'definitions',
    todo: 'Correct the file below WORKFLOWS_DIR, METADATA_DIR or COMMANDS_DIR.',
    run: async () => {
      const workflows = (await load()).all().length;
      const { event, series } = await loadCatalogs(metadataDir);
      const catalogs = event.extended.length + series.extended.length;
      return { state: 'ok', found: `${workflows} workflows, ${catalogs} metadata catalogs of the site` };
    },
  };
}
