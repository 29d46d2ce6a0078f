import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordChanges } from '../../../src/changes/record-changes.ts';
import type { Bench } from '../setup/bench.ts';
import { startInlet } from '../setup/inlet-process.ts';
import type { Row, Table } from '../support/figures.ts';
import type { ApiAddress } from '../support/http-client.ts';
import { residentNow } from '../support/peak-memory.ts';
import { processorSeconds } from '../support/processor-time.ts';

const LISTENERS = 10_000;
const CHANGES = 5;
/** So many connect at a time. */
const ABREAST = 100;
const IDLE_SECONDS = 20;
const PATIENCE_MS = 120_000;

/** What clients cost that follow the updates, and how long it takes to tell all of them. */
export async function measureUpdates(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = 1 } = bench.options;
  const count = quick ? 200 : LISTENERS;
  const rows: Row[] = [];
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const runtime of ['deno', 'node'] as const) rows.push(await measureOn(bench, runtime, count));
  }
  return {
    name: 'updates',
    title: `Server-Sent Events: ${count} clients follow everything in one process`,
    notes: [
      'A thousand: what the resident size of the API process grew by, for a thousand clients. Tell all: from the commit of a change until',
      'the last client has read it; the clients are one process on the same machine and take their share of the processors.',
      'Idle: of one core, with heartbeats and nothing to tell.',
    ],
    rows,
  };
}

async function measureOn(bench: Bench, runtime: 'deno' | 'node', count: number): Promise<Row> {
  const inlet = await startInlet(bench, 'api', {}, runtime);
  const first = await follow(inlet.api, () => undefined);
  await sleep(1_000);
  const before = residentNow(inlet.pid);
  let told = 0;
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(ABREAST, count - sockets.length) }, () =>
      follow(inlet.api, () => {
        told += 1;
      }),
    );
    sockets.push(...(await Promise.all(some)));
  }
  await sleep(2_000);
  const each = ((residentNow(inlet.pid) - before) / count) * 1000;
  const busy = processorSeconds(inlet.pid);
  const idleSeconds = bench.options.quick ? 2 : IDLE_SECONDS;
  await sleep(idleSeconds * 1000);
  const idle = (processorSeconds(inlet.pid) - busy) / idleSeconds;
  const times: number[] = [];
  for (let n = 1; n <= CHANGES; n++) {
    const begun = performance.now();
    const change = { kind: 'series.changed', seriesId: 'series', data: { parts: ['metadata'] } } as const;
    await bench.database.transaction().execute((trx) => recordChanges(trx, [change]));
    while (told < n * count) {
      if (performance.now() - begun > PATIENCE_MS) throw new Error(`Only ${told} of ${n * count} were told.`);
      await sleep(1);
    }
    times.push(performance.now() - begun);
  }
  for (const socket of [first, ...sockets]) socket.destroy();
  await inlet.stop();
  return {
    label: `${runtime}, ${count} clients`,
    figures: {
      'a thousand': { unit: 'bytes', samples: [each] },
      'tell all': { unit: 'ms', samples: times },
      idle: { unit: 'ratio', samples: [idle] },
    },
  };
}

/** Follows everything over a connection of its own, as soon as the server has begun to answer. */
function follow({ url, username, password }: ApiAddress, onMessage: () => void): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const authorization = Buffer.from(`${username}:${password}`).toString('base64');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET /api/updates HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Basic ${authorization}\r\nAccept: text/event-stream\r\n\r\n`,
      );
    });
    socket.on('error', reject);
    socket.setEncoding('latin1');
    let begun = false;
    socket.on('data', (text: string) => {
      const answer = text.toString();
      if (!begun && answer.includes('retry:')) {
        begun = true;
        resolve(socket);
      }
      if (answer.includes('\nevent: ')) onMessage();
    });
  });
}
