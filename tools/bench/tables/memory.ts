import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import { cheapBytes, cheapTrack, postEvent, type TrackSource } from '../support/http-client.ts';
import { watchMemory } from '../support/peak-memory.ts';

const MIB = 2 ** 20;
const AIM = 300e6;
const PACKET_BYTES = 1400;

interface Case {
  /** At once. */
  uploads: number;
  /** Of each upload. */
  bytes: number;
  /** Sends one packet at a time: the server gets thousands of tiny pieces. */
  slow?: boolean;
}

/** The first tells what the process holds with hardly anything to do. */
const CASES: Case[] = [
  { uploads: 1, bytes: MIB },
  { uploads: 1, bytes: 16 * MIB, slow: true },
  { uploads: 1, bytes: 256 * MIB },
  { uploads: 1, bytes: 1024 * MIB },
  { uploads: 1, bytes: 4096 * MIB },
  { uploads: 4, bytes: 256 * MIB },
  { uploads: 16, bytes: 256 * MIB },
  { uploads: 16, bytes: 1024 * MIB },
];
const QUICK_CASES: Case[] = [
  { uploads: 1, bytes: MIB },
  { uploads: 1, bytes: 64 * MIB },
  { uploads: 4, bytes: 16 * MIB },
];

/** The API's peak memory while uploads arrive, each case in a new process. */
export async function measureMemory(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = 1 } = bench.options;
  const rows: Row[] = [];
  for (const each of quick ? QUICK_CASES : CASES) {
    const { uploads, bytes, slow } = each;
    const peaks: number[] = [];
    const rates: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      onRound(round);
      const { peak, rate } = await peakOf(bench, each);
      peaks.push(peak);
      rates.push(rate);
    }
    const aim = uploads === 1 ? { atMost: AIM } : undefined;
    rows.push({
      label: `${uploads} x ${bytes / MIB} MiB${slow ? ', a packet at a time' : ''}`,
      figures: {
        'peak resident': { unit: 'bytes', samples: peaks, aim },
        'all uploads': { unit: 'rate', samples: rates },
      },
    });
  }
  return {
    name: 'memory',
    title: 'Peak resident memory of the API process (role api), by uploads at once and their size',
    notes: [
      'Each row is a new process. With one upload the peak should not depend on the size or the pace;',
      'with several it should grow linearly in their number.',
    ],
    rows,
  };
}

/** As a line that is slower than the server brings it. */
function slowTrack(bytes: number): TrackSource {
  const content = async function* () {
    for (const packet of cheapBytes(bytes, randomBytes(PACKET_BYTES))) {
      yield packet;
      await sleep(1);
    }
  };
  return { ...cheapTrack(bytes), content };
}

async function peakOf(bench: Bench, { uploads, bytes, slow }: Case): Promise<{ peak: number; rate: number }> {
  const track = slow ? slowTrack(bytes) : cheapTrack(bytes);
  const inlet = await startInlet(bench, 'api');
  const memory = watchMemory(inlet.pid);
  try {
    const started = performance.now();
    await Promise.all(
      Array.from({ length: uploads }, () => postEvent(inlet.api, { workflow: 'schedule-and-upload', track })),
    );
    const seconds = (performance.now() - started) / 1000;
    return { peak: memory.peak(), rate: (uploads * bytes) / seconds };
  } finally {
    memory.stop();
    await inlet.stop();
    await bench.reset();
  }
}
