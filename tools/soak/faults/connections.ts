import type { TestProxy } from '../../../test/support/proxy.ts';
import type { Fault } from '../plan.ts';
import { signalAll } from '../world/pids.ts';

/** What can happen between the product and one of its services. */
export function connectionFaults(target: string, proxy: TestProxy): Fault[] {
  const fault = (what: string, begin: () => unknown): Fault => ({
    name: `connections to ${target} ${what}`,
    kind: `connections to ${target} ${what}`,
    target,
    begin,
    end: async () => {
      // Both ends have keepalive, which a proxy answers for the one that is gone.
      proxy.bury();
      await proxy.join();
    },
  });
  return [
    fault('are refused', () => proxy.part()),
    fault('go silent', () => proxy.silence()),
    fault('are reset', () => proxy.hangUp()),
    fault('are lost', () => proxy.lose()),
  ];
}

/** Its processes are stopped, and go on. */
export function stopped(target: string, pids: () => number[]): Fault {
  return {
    name: `${target} stands still`,
    kind: `${target} stands still`,
    target,
    begin: () => signalAll(pids(), 'SIGSTOP'),
    end: () => signalAll(pids(), 'SIGCONT'),
  };
}
