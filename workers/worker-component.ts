import type { Loop } from '#platform/process/loop.ts';

/** A component of a worker process, driven by loops. */
export interface WorkerComponent {
  readonly loops: readonly Loop[];
  close(): Promise<void>;
}

/** Makes a component that closes its listeners, then its loops. @param afterwards runs after that */
export function componentOf(
  loops: readonly Loop[],
  listeners: readonly { close(): void }[] = [],
  afterwards: () => Promise<unknown> = async () => undefined,
): WorkerComponent {
  return {
    loops,
    close: async () => {
      for (const listener of listeners) listener.close();
      await Promise.all(loops.map((loop) => loop.close()));
      await afterwards();
    },
  };
}
