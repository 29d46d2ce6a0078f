import { fileURLToPath } from 'node:url';
import { objectKey } from '../../../src/storage/keys.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import { ratios, type Table } from '../support/figures.ts';
import { startHelper } from '../support/helper-process.ts';
import { cheapTrack, postEvent } from '../support/http-client.ts';
import { alternate } from '../support/rounds.ts';
import type { DirectPut } from './direct-put.process.ts';

const ROUNDS = 5;
const AIMS = { s3: 0.9, folder: 0.7 };

/** Uploads through the API against writing the same number of bytes straight into the same storage. */
export async function measureUpload(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { size } = bench.options;
  const direct = startHelper<DirectPut, { ms: number }>(
    bench.runtime,
    fileURLToPath(new URL('./direct-put.process.ts', import.meta.url)),
    bench.env,
  );
  const stopDirect = bench.cleanup.add(direct.stop);
  const inlet = await startInlet(bench, 'api');
  const measurements = {
    direct: async () => {
      const key = objectKey('track');
      const forget = bench.cleanup.add(() => bench.storage.remove([key]));
      const { ms } = await direct.run({ key, bytes: size });
      await forget();
      return size / (ms / 1000);
    },
    api: async () => {
      const started = performance.now();
      await postEvent(inlet.api, { workflow: 'schedule-and-upload', track: cheapTrack(size) });
      const ms = performance.now() - started;
      await bench.reset();
      return size / (ms / 1000);
    },
  };
  await alternate(1, measurements);
  const rates = await alternate(
    bench.options.rounds ?? (bench.options.quick ? 2 : ROUNDS),
    measurements,
    onRound,
  );
  await inlet.stop();
  await stopDirect();
  return {
    name: 'upload',
    title: `Upload of ${size / 2 ** 20} MiB: through the API, against a direct write to the same storage`,
    notes: [
      'direct: put() of the same storage adapter in a process of its own on the same runtime, without SHA-256.',
      'API: multipart POST /api/events over a socket, until the 201. Both until the bytes are durable.',
    ],
    rows: [
      {
        label: bench.storage.kind,
        figures: {
          direct: { unit: 'rate', samples: rates.direct },
          API: { unit: 'rate', samples: rates.api },
          'API / direct': {
            unit: 'ratio',
            samples: ratios(rates.api, rates.direct),
            aim: { atLeast: AIMS[bench.storage.kind] },
          },
        },
      },
    ],
  };
}
