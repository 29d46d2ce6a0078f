import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import { cheapTrack, postEvent } from '../support/http-client.ts';
import { watchMemory } from '../support/peak-memory.ts';

const MIB = 2 ** 20;
const AIM = 300e6;

/** Uploads at once, and bytes of each; the first row tells what the process holds with hardly anything to do. */
const CASES = [
  { uploads: 1, bytes: MIB },
  { uploads: 1, bytes: 256 * MIB },
  { uploads: 1, bytes: 1024 * MIB },
  { uploads: 1, bytes: 4096 * MIB },
  { uploads: 4, bytes: 256 * MIB },
  { uploads: 16, bytes: 256 * MIB },
  { uploads: 16, bytes: 1024 * MIB },
];
const QUICK_CASES = [
  { uploads: 1, bytes: MIB },
  { uploads: 1, bytes: 64 * MIB },
  { uploads: 1, bytes: 256 * MIB },
  { uploads: 16, bytes: 32 * MIB },
];

/** The API's peak memory while uploads arrive, each case in a new process. */
export async function measureMemory(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = 1 } = bench.options;
  const rows: Row[] = [];
  for (const { uploads, bytes } of quick ? QUICK_CASES : CASES) {
    const peaks: number[] = [];
    const rates: number[] = [];
    for (let round = 1; round <= rounds; round++) {
      onRound(round);
      const { peak, rate } = await peakOf(bench, uploads, bytes);
      peaks.push(peak);
      rates.push(rate);
    }
    const aim = uploads === 1 ? { atMost: AIM } : undefined;
    rows.push({
      label: `${uploads} x ${bytes / MIB} MiB`,
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
      'Each row is a new process. With one upload the peak should not depend on the size;',
      'with several it should grow linearly in their number.',
    ],
    rows,
  };
}

async function peakOf(bench: Bench, uploads: number, bytes: number): Promise<{ peak: number; rate: number }> {
  const inlet = await startInlet(bench, 'api');
  const memory = watchMemory(inlet.pid);
  try {
    const started = performance.now();
    await Promise.all(
      Array.from({ length: uploads }, () =>
        postEvent(inlet.api, { workflow: 'schedule-and-upload', track: cheapTrack(bytes) }),
      ),
    );
    const seconds = (performance.now() - started) / 1000;
    return { peak: memory.peak(), rate: (uploads * bytes) / seconds };
  } finally {
    memory.stop();
    await inlet.stop();
    await bench.reset();
  }
}
