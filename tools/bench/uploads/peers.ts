import { mkdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '../../../src/cli/role.ts';
import type { ObjectStorage } from '../../../src/platform/storage/object-storage.ts';
import { type Bench, forgetEvents } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import { startHelper } from '../support/helper-process.ts';
import type { ApiAddress } from '../support/http-client.ts';
import type { LibStorageTask } from './lib-storage.process.ts';
import { type Sender, sendForm, sendTus } from './send.ts';
import type { TusTask } from './tus.process.ts';

/** Something that takes uploads, in a process of its own. */
export interface Peer {
  label: string;
  pid: number;
  /** Has so many copies of a file stored at once. @returns milliseconds until the last of them is durable */
  store(file: string, uploads: number): Promise<number>;
  /** Forgets what was stored. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

/** Where uploads go: variables of the environment, and how objects are removed from there. */
export interface Place {
  env: Record<string, string>;
  storage: Pick<ObjectStorage, 'remove'>;
}

/** The API of Inlet, one process of it: by forms, and by tus. */
export async function inletPeers(
  bench: Bench,
  { runtime, sender, env, storage }: { runtime: Runtime; sender: Sender } & Place,
): Promise<{ forms: Peer; tus: Peer }> {
  const { pid, api, stop } = await startInlet(bench, 'api', env, runtime);
  const label = `Inlet on ${runtime === 'deno' ? 'Deno' : 'Node'}`;
  const forget = () => forgetEvents(bench.database, storage);
  const forms: Peer = {
    label,
    pid,
    store: (file, uploads) => timed(uploads, () => sendForm(sender, api, file)),
    forget,
    stop,
  };
  const tus: Peer = {
    label: `${label}, tus`,
    pid,
    store: (file, uploads) => timed(uploads, async () => void (await sendTus(sender, api, '/uploads', file))),
    forget,
    stop,
  };
  return { forms, tus };
}

/** express and multer, on a folder. */
export async function multerPeer(bench: Bench, sender: Sender): Promise<Peer> {
  const folder = join(bench.folder, 'multer');
  mkdirSync(folder);
  const { pid, api, stop } = await startServer(bench, './multer.process.ts', {}, folder);
  return {
    label: 'express + multer',
    pid,
    store: (file, uploads) => timed(uploads, () => sendForm(sender, api, file)),
    forget: async () => {
      for (const name of await readdir(folder)) await rm(join(folder, name));
    },
    stop,
  };
}

/** The tus server, on a folder unless `env` names a bucket. */
export async function tusPeer(bench: Bench, sender: Sender, env?: Record<string, string>): Promise<Peer> {
  const folder = join(bench.folder, 'tus');
  if (!env) mkdirSync(folder);
  const { pid, api, run, stop } = await startServer<TusTask>(
    bench,
    './tus.process.ts',
    env ?? {},
    ...(env ? [] : [folder]),
  );
  const stored: string[] = [];
  return {
    label: `tus server, ${env ? 'S3' : 'file'} store`,
    pid,
    store: (file, uploads) => timed(uploads, async () => void stored.push(await sendTus(sender, api, '/files', file))),
    forget: async () => void (await run({ forget: stored.splice(0).map((path) => basename(path)) })),
    stop,
  };
}

/** lib-storage, which reads the file itself. */
export function libStoragePeer(
  bench: Bench,
  label: string,
  env: Record<string, string>,
  options: Pick<LibStorageTask, 'partSize' | 'queueSize'> = {},
): Peer {
  const helper = startHelper<LibStorageTask, { ms: number }>('node', program('./lib-storage.process.ts'), {
    ...bench.env,
    ...env,
  });
  return {
    label,
    pid: helper.pid,
    store: async (file, uploads) => (await helper.run({ file, uploads, ...options })).ms,
    forget: async () => undefined,
    stop: bench.cleanup.add(helper.stop),
  };
}

/** A server of the benchmark's, on Node. */
export async function startServer<Task extends object>(
  bench: Bench,
  name: string,
  env: Record<string, string>,
  ...args: string[]
) {
  const helper = startHelper<Task | object, { port: number }>('node', program(name), { ...bench.env, ...env }, args);
  const stop = bench.cleanup.add(helper.stop);
  const { port } = await helper.run({});
  const api: ApiAddress = { url: `http://127.0.0.1:${port}`, username: 'nobody', password: '' };
  return { ...helper, port, api, stop };
}

const program = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function timed(uploads: number, send: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await Promise.all(Array.from({ length: uploads }, send));
  return performance.now() - started;
}
