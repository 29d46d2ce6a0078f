import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that embedded servers choose, and those that outgoing connections get. */
const FIRST = 10_000;
/** Each worker of the tests has ports of its own: none takes what another has found free and not yet used. */
const PORTS_EACH = 600;
const WORKERS = 16;

const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * PORTS_EACH;
let next = randomInt(PORTS_EACH);

/** A TCP port of this machine on which nobody listens; another one with each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % PORTS_EACH);
    const probe = createServer().listen(port, '127.0.0.1');
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
