import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { hostileRequests, type Met, meet } from '../../corpus/http/index.ts';
import { eventually } from '../../support/eventually.ts';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import type { Suite } from '../suite.ts';

const MIB = 2 ** 20;
/** More than any limit of the server that is tested, but for the one of headers; and the machine may be busy. */
const PATIENCE_MS = 30_000;
/** Waiting for so long is a fault of the server, and not of a machine that runs other tests. */
const LONG_MS = 10_000;
const AT_ONCE = 8;
/** For what refuses after all that was read: buffers of both sides, and the machine's. */
const READ_AHEAD_BYTES = 24 * MIB;
const CASES = hostileRequests('').map(({ name, harmless = false, statuses }) => [name, harmless, statuses] as const);

/** Requests that nobody sends who wants something. They are sent side by side, and looked at one by one. */
export const hostileHttp: Suite = (product) => {
  describe('a hostile request', () => {
    const met = new Map<string, Met>();
    let pid: number;
    let memory: number;
    let usual: number;
    let slowest = 0;

    const health = async () => {
      const started = performance.now();
      const answer = await fetch(`${product().server.url}/health/live`, { headers: { Connection: 'close' } });
      expect(answer.status).toBe(200);
      return performance.now() - started;
    };

    beforeAll(async () => {
      const { server, admin } = product();
      pid = server.api.pid;
      memory = residentBytes(pid);
      usual = Math.max(...(await Promise.all([health(), health(), health()])));
      const requests = hostileRequests(admin.authorization);
      let attacking = true;
      const watching = (async () => {
        while (attacking) {
          slowest = Math.max(slowest, await health());
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      const attack = async () => {
        for (let next = requests.shift(); next; next = requests.shift()) {
          met.set(next.name, await meet(server.url, next, PATIENCE_MS));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, attack));
      attacking = false;
      await watching;
    });

    test.each(CASES)('%s is refused, and the connection ends', (name, harmless, statuses) => {
      const { status, answer, ended, sent } = met.get(name) as Met;
      expect(ended, `the server ended it, after ${answer.slice(0, 200)}`).toBe(true);
      if (!harmless && status !== undefined)
        expect([Math.trunc(status / 100), answer.slice(0, 300)]).toEqual([4, expect.anything()]);
      if (statuses) expect(statuses).toContain(status);
      expect(answer.match(/^HTTP\/1\.1 5\d\d/m)).toBeNull();
      expect(answer).not.toMatch(/\bat .*\.[jt]s|node_modules|smuggled|root:|evil\.example/);
      expect(sent).toBeLessThan(READ_AHEAD_BYTES);
    });

    test('keeps nobody else waiting, and leaves nothing', async () => {
      const { server, admin } = product();
      expect(slowest, `usually ${usual} ms`).toBeLessThan(LONG_MS + 20 * usual);
      expect([server.api.pid, server.api.running]).toEqual([pid, true]);
      await eventually(() => expect(residentBytes(pid)).toBeLessThan(memory + 250 * MIB));
      expect((await admin.fetch('/api/info/me')).status).toBe(200);
      await expectNothingLeftOver(server);
    });
  });
};

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
