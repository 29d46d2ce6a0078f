/**
 * Stands before a server and brings every byte later, as a long line does that is as wide as needed: half of the delay on
 * the way there, half on the way back. A process of its own, answering one task with its port (see `helper-process.ts`);
 * the arguments are the port of the server and the milliseconds of the round trip.
 */
import { connect, createServer, type Socket } from 'node:net';
import { serveTasks } from '../support/helper-process.ts';
import { listen } from '../support/listen.ts';

/** What may be on its way in one direction of a connection; the most that Linux keeps unacknowledged by default. */
const WINDOW_BYTES = 4 * 2 ** 20;

const [, , target = '', roundTripMs = ''] = process.argv;

const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ port: Number(target), host: '127.0.0.1', allowHalfOpen: true });
  for (const socket of [near, far]) socket.setNoDelay().on('error', () => undefined);
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
  delay(near, far, Number(roundTripMs) / 2);
  delay(far, near, Number(roundTripMs) / 2);
});

function delay(from: Socket, to: Socket, ms: number): void {
  const underWay: { due: number; chunk: Buffer | undefined }[] = [];
  let bytes = 0;
  const arrive = () => {
    const now = performance.now();
    for (let first = underWay[0]; first && first.due <= now; first = underWay[0]) {
      underWay.shift();
      if (!first.chunk) to.end();
      else if (!to.destroyed) to.write(first.chunk);
      bytes -= first.chunk?.length ?? 0;
    }
    if (bytes < WINDOW_BYTES && from.isPaused()) from.resume();
    const [next] = underWay;
    if (next) setTimeout(arrive, next.due - now);
  };
  const leave = (chunk?: Buffer) => {
    underWay.push({ due: performance.now() + ms, chunk });
    bytes += chunk?.length ?? 0;
    if (bytes >= WINDOW_BYTES) from.pause();
    if (underWay.length === 1) setTimeout(arrive, ms);
  };
  from.on('data', leave).on('end', () => leave());
}

const port = await listen(server);
await serveTasks(async () => ({ port }));
process.exit();
