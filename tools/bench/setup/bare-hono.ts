import { fileURLToPath } from 'node:url';
import { startHelper } from '../support/helper-process.ts';
import type { ApiAddress } from '../support/http-client.ts';
import type { Bench } from './bench.ts';

const PROGRAM = fileURLToPath(new URL('../tables/bare-hono.process.ts', import.meta.url));

/** Hono alone on a database, in a process of its own (see `bare-hono.process.ts`). */
export async function startBareHono(
  bench: Bench,
  databaseUrl: string,
): Promise<{ api: ApiAddress; stop: () => Promise<void> }> {
  const helper = startHelper<object, { port: number }>(bench.runtime, PROGRAM, {
    ...bench.env,
    DATABASE_URL: databaseUrl,
  });
  const stop = bench.cleanup.add(helper.stop);
  const { port } = await helper.run({});
  return { api: { url: `http://127.0.0.1:${port}`, username: 'nobody', password: '' }, stop };
}
