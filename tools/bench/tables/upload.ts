import { rmSync } from 'node:fs';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import { compare, type UploadCase, warmUp } from '../uploads/compare.ts';
import { writeRandom } from '../uploads/files.ts';
import { hugeRows } from '../uploads/huge.ts';
import { inletPeers, libStoragePeer, multerPeer, type Peer, type Place, tusPeer } from '../uploads/peers.ts';
import { findSender, type Sender } from '../uploads/send.ts';
import { findBuckets, makeFolder, ROUND_TRIP_MS } from '../uploads/services.ts';

const ROUNDS = 3;
const MIB = 2 ** 20;
const MANY = 16;
/** Of the first, how large each of many is. */
const EACH = 4;
/** How Inlet used lib-storage before it had a writer of its own, and the parts it sent. */
const FORMER = { partSize: 5 * MIB, queueSize: 2 };

/** How many times as fast as another peer Inlet is to be. */
const aims = (deno: number, node: number) => ({ 'Inlet on Deno': deno, 'Inlet on Node': node });

/** What is measured of all peers, or of Inlet by tus as well. */
type CaseOf = UploadCase & { tus?: boolean };

/** Uploads through the API against what most people would use in its place, side by side. */
export async function measureUpload(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { size, huge, quick, rounds = quick ? 1 : ROUNDS } = bench.options;
  const sender = findSender();
  const one = await writeRandom(bench, 'one', size);
  const each = await writeRandom(bench, 'each', Math.ceil(size / EACH));
  const folder = await makeFolder(bench);
  const buckets = await findBuckets(bench);
  const single = { ...one, uploads: 1 };
  const many = { ...each, uploads: MANY };
  const rows: Row[] = [];
  const measure = async (where: string, place: Place, others: Peer[], cases: CaseOf[]) => {
    const inlets = [];
    for (const runtime of ['deno', 'node'] as const) {
      inlets.push(await inletPeers(bench, { runtime, sender, ...place }));
    }
    const forms = [...inlets.map((inlet) => inlet.forms), ...others];
    const withTus = [...forms, ...inlets.map(({ tus }) => tus)];
    await warmUp(withTus, each.file);
    for (const { tus, ...what } of cases) {
      rows.push(...(await compare(tus ? withTus : forms, what, { where, rounds, onRound })));
    }
    for (const peer of forms) await peer.stop();
  };
  await compileOnce(bench, folder);

  const multer = await multerPeer(bench, sender);
  await measure(
    'folder',
    folder,
    [multer, await tusPeer(bench, sender)],
    [
      { ...single, tus: true, of: multer.label, aims: aims(1, 0.9), peak: 200e6 },
      { ...many, of: multer.label, aims: aims(1, 1), peak: 350e6 },
    ],
  );
  const raw = libStoragePeer(bench, 'lib-storage, local file', buckets.near.env);
  await measure(
    'S3',
    buckets.near,
    [raw, await tusPeer(bench, sender, buckets.near.env)],
    [
      { ...single, tus: true, of: raw.label, aims: aims(0.95, 0.95), peak: 200e6 },
      { ...many, of: raw.label, aims: aims(0.95, 0.95), peak: 350e6 },
    ],
  );
  const former = libStoragePeer(bench, 'baseline: lib-storage, 2 x 5 MiB', buckets.far.env, FORMER);
  await measure(
    `S3, ${ROUND_TRIP_MS} ms`,
    buckets.far,
    [former],
    [{ ...single, of: former.label, aims: aims(2.5, 2.5), peak: 200e6 }],
  );
  if (huge !== undefined) rows.push(...(await hugeRows(bench, folder, huge)));
  for (const { file } of [one, each]) rmSync(file);
  return {
    name: 'upload',
    title: `Uploads: 1 x ${size / MIB} MiB and ${MANY} x ${size / MIB / EACH} MiB, random bytes, until they are durable`,
    notes: notes(sender, buckets.server),
    rows,
  };
}

/** What is measured is a start like most: what the runtimes compile is kept. */
async function compileOnce(bench: Bench, { env }: Place): Promise<void> {
  for (const runtime of ['deno', 'node'] as const) {
    await (await startInlet(bench, 'api', env, runtime)).stop();
  }
}

const notes = (sender: Sender, server: string) => [
  `Client: ${sender === 'curl' ? 'curl' : 'one of Node'}, a process for each upload, on the same processors; peers on Node. S3: ${server}.`,
  'Inlet is the API alone, by POST /api/events. multer: fsync before the answer. tus: one PATCH, fsync before its answer.',
  'Inlet computes the SHA-256 of every file; on S3 it signs each part as well, as lib-storage and the tus server do.',
  'lib-storage reads the file itself, nothing is received; it has its own defaults (4 parts of 5 MiB at once, for each upload).',
  `"${ROUND_TRIP_MS} ms": a proxy adds them to each round trip; baseline: stores parts without receiving the file or computing its SHA-256.`,
  "CPU: seconds of the server (of lib-storage: the client) per GiB, its own and the system's for it.",
  'Peak: resident memory so far, from the start of the process; by tus and by forms it is the same process.',
];
