import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { startTolerantTimer } from '../process/timeout.ts';

/**
 * Converts a Node stream to a web stream, read on demand, which closes the Node stream however it ends.
 *
 * @param limits.idleMs longest wait in milliseconds for the next bytes; the pauses of the reader do not count
 */
export function webStream(
  body: Readable,
  { idleMs, signal }: { idleMs?: number; signal?: AbortSignal } = {},
): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  const onAbort = () => {
    const reason: unknown = signal?.reason;
    body.destroy(reason instanceof Error ? reason : new Error('Reading was aborted.', { cause: reason }));
  };
  const release = () => signal?.removeEventListener('abort', onAbort);
  // An error between two reads would end the process; the next read reports it.
  body.on('error', release);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const cancel =
        idleMs &&
        startTolerantTimer(idleMs, () => body.destroy(new Error('The object storage stopped sending an object.')));
      try {
        const next = await chunks.next();
        if (!next.done) return controller.enqueue(next.value);
        release();
        controller.close();
      } finally {
        if (cancel) cancel();
      }
    },
    async cancel() {
      release();
      if (body.closed) return;
      const closed = once(body, 'close');
      body.destroy();
      await closed;
    },
  });
}
