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
  /** Done once, so that programs are compiled and connections made: only the memory is told. */
  first?: boolean;
  /** The peer whose rate the others' are divided by. */
  of?: string;
  /** What the ratio should be at least, by the peer. */
  aims?: Record<string, number>;
  /** What the memory of a peer with an aim should be at most, in bytes. */
  peak?: number;
}

/** Measures a case of several peers in turn, again and again. @returns a row for each peer */
export async function compare(
  peers: readonly Peer[],
  { file, bytes, uploads, first = false, of, aims = {}, peak }: UploadCase,
  { where, rounds, onRound }: { where: string; rounds: number; onRound: (round: number) => void },
): Promise<Row[]> {
  const total = bytes * uploads;
  const samples = peers.map((peer) => ({
    peer,
    rates: [] as number[],
    seconds: [] as number[],
    peaks: [] as number[],
  }));
  for (let round = 1; round <= (first ? 1 : rounds); round++) {
    onRound(round);
    for (const { peer, rates, seconds, peaks } of samples) {
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
    const compared: Record<string, Figure> = first
      ? {}
      : {
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
