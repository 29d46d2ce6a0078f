import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_UPLOAD_MEMORY_BYTES } from '../../../src/platform/storage/upload-memory.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row } from '../support/figures.ts';
import { cheapTrack } from '../support/http-client.ts';
import { residentNow, watchMemory } from '../support/peak-memory.ts';
import { deliverTrack } from './deliver.ts';

const MIB = 2 ** 20;
/** What is done once after the start is over by then. */
const IDLE_MS = 2_000;

/** Tracks that come at once. */
export interface Delivery {
  uploads: number;
  /** Of each. */
  bytes: number;
  /** As MAX_PARALLEL_UPLOADS; the others wait. */
  atOnce?: number;
}

/** What a process of the API needs while agents deliver at once. @throws Error when one of them is refused */
export async function measureDelivering(bench: Bench, { uploads, bytes, atOnce }: Delivery): Promise<Row> {
  const limit = atOnce === undefined ? undefined : { MAX_PARALLEL_UPLOADS: String(atOnce) };
  const inlet = await startInlet(bench, 'api', limit);
  await sleep(IDLE_MS);
  const idle = residentNow(inlet.pid);
  const memory = watchMemory(inlet.pid);
  await deliverTrack(inlet.api, cheapTrack(MIB));
  const one = memory.peak();
  await Promise.all(Array.from({ length: uploads }, () => deliverTrack(inlet.api, cheapTrack(bytes))));
  const peak = memory.peak();
  memory.stop();
  await inlet.stop();
  await bench.reset();
  const budget = bench.config.uploadMemoryBytes ?? DEFAULT_UPLOAD_MEMORY_BYTES;
  return {
    label: `${uploads} x ${bytes / MIB} MiB at once${atOnce === undefined ? '' : `, ${atOnce} let in`}`,
    figures: {
      idle: { unit: 'bytes', samples: [idle] },
      'peak resident': { unit: 'bytes', samples: [peak] },
      'over idle': { unit: 'bytes', samples: [Math.max(1, peak - idle)] },
      'over one': { unit: 'bytes', samples: [Math.max(1, peak - one)], aim: { atMost: budget } },
    },
  };
}
