import { type Figure, type Row, ratios } from '../support/figures.ts';
import { watchMemory } from '../support/peak-memory.ts';
import { processorSeconds } from '../support/processor-time.ts';
import type { Peer } from './peers.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** What is stored, by each peer in turn. */
export interface UploadCase {
  file: string;
  /** Of the file. */
  bytes: number;
  /** At once. */
  uploads: number;
  /** The peer whose rate the others' are divided by. */
  of?: string;
  /** What the ratio should be at least, by the peer. */
  aims?: Record<string, number>;
  /** What the memory of a peer with an aim should be at most, in bytes. */
  peak?: number;
}

/** Has a file stored once by each peer, so that programs are compiled and connections made. */
export async function warmUp(peers: readonly Peer[], file: string): Promise<void> {
  for (const peer of peers) {
    await peer.store(file, 1);
    await peer.forget();
  }
}

/**
 * Measures a case of several peers in turn, again and again, each round beginning with another one.
 *
 * @returns a row for each peer
 */
export async function compare(
  peers: readonly Peer[],
  { file, bytes, uploads, of, aims = {}, peak }: UploadCase,
  { where, rounds, onRound }: { where: string; rounds: number; onRound: (round: number) => void },
): Promise<Row[]> {
  const total = bytes * uploads;
  const samples = peers.map((peer) => ({
    peer,
    rates: [] as number[],
    seconds: [] as number[],
    peaks: [] as number[],
  }));
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    const turn = round % samples.length;
    for (const { peer, rates, seconds, peaks } of [...samples.slice(turn), ...samples.slice(0, turn)]) {
      const memory = watchMemory(peer.pid);
      const before = processorSeconds(peer.pid);
      const ms = await peer.store(file, uploads);
      rates.push(total / (ms / 1000));
      seconds.push((processorSeconds(peer.pid) - before) / (total / GIB));
      peaks.push(memory.peak());
      memory.stop();
      await peer.forget();
    }
  }
  const base = samples.find(({ peer }) => peer.label === of)?.rates;
  return samples.map(({ peer: { label }, rates, seconds, peaks }) => {
    const least = aims[label];
    const limit = least !== undefined && peak !== undefined ? { atMost: peak } : undefined;
    const compared: Record<string, Figure> = {
      rate: { unit: 'rate', samples: rates },
      ...(base && {
        ratio: {
          unit: 'ratio',
          samples: ratios(rates, base),
          aim: least === undefined ? undefined : { atLeast: least },
        },
      }),
      'CPU s / GiB': { unit: 'seconds', samples: seconds },
    };
    return {
      label: `${where}, ${uploads} x ${bytes / MIB} MiB: ${label}`,
      figures: { ...compared, peak: { unit: 'bytes', samples: [Math.max(...peaks)], aim: limit } },
    };
  });
}
