import { Agent } from 'node:http';
import { type ApiAddress, ask } from './http-client.ts';

/** Clients that ask at once. */
export const CLIENTS = 16;

/** Not counted: connections are made, and programs compiled. */
const WARM_UP_SECONDS = 0.5;

/** How many requests a second are answered, all with the expected status; measured for so many seconds. */
export async function requestRate(
  api: ApiAddress,
  path: string,
  headers: Record<string, string>,
  { expected, seconds }: { expected: number; seconds: number },
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const started = performance.now() + WARM_UP_SECONDS * 1000;
  const end = started + seconds * 1000;
  let requests = 0;
  const client = async () => {
    while (performance.now() < end) {
      const { status } = await ask(api, path, { headers, agent });
      if (status !== expected) throw new Error(`GET answered ${status} instead of ${expected}.`);
      if (performance.now() > started) requests += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return requests / ((performance.now() - started) / 1000);
}
