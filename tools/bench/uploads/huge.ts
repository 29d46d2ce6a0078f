import { type Bench, forgetEvents } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row } from '../support/figures.ts';
import { cheapTrack, postEvent } from '../support/http-client.ts';
import { watchMemory } from '../support/peak-memory.ts';
import { processorSeconds } from '../support/processor-time.ts';
import type { Place } from './peers.ts';

const GIB = 2 ** 30;

/** One upload that no page cache holds, made on the way and stored once, by both runtimes. @returns a row for each */
export async function hugeRows(bench: Bench, { env, storage }: Place, bytes: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of ['deno', 'node'] as const) {
    const { pid, api, stop } = await startInlet(bench, 'api', env, runtime);
    const memory = watchMemory(pid);
    const before = processorSeconds(pid);
    const started = performance.now();
    await postEvent(api, { workflow: 'schedule-and-upload', track: cheapTrack(bytes) });
    const rate = bytes / ((performance.now() - started) / 1000);
    const seconds = (processorSeconds(pid) - before) / (bytes / GIB);
    rows.push({
      label: `folder, 1 x ${bytes / 2 ** 20} MiB, generated: Inlet on ${runtime === 'deno' ? 'Deno' : 'Node'}`,
      figures: {
        rate: { unit: 'rate', samples: [rate] },
        'CPU s / GiB': { unit: 'seconds', samples: [seconds] },
        peak: { unit: 'bytes', samples: [memory.peak()], aim: { atMost: 200e6 } },
      },
    });
    memory.stop();
    await stop();
    await forgetEvents(bench.database, storage);
  }
  return rows;
}
