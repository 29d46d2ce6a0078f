import { Readable } from 'node:stream';

/**
 * Gives content away as a stream, read at the pace of who reads it. What is left unread when `use` has settled is read
 * and dropped; when `use` fails, nothing more is read.
 *
 * @throws what `use` rejects with, or the fault of the content, whichever came first
 */
export async function handOut(
  content: AsyncGenerator<Buffer, void, void>,
  use: (stream: Readable) => Promise<void>,
): Promise<void> {
  let fault: { error: unknown } | undefined;
  let reading = Promise.resolve();
  const stream = new Readable({
    // Each chunk by itself: to join them would copy them.
    objectMode: true,
    highWaterMark: 1,
    read() {
      reading = content.next().then(
        ({ value, done }) => {
          if (!stream.destroyed) stream.push(done ? null : value);
        },
        (error) => {
          fault = { error };
          stream.destroy(error);
        },
      );
    },
  });
  stream.on('error', () => undefined);
  try {
    await use(stream);
    stream.destroy();
    await reading;
    if (fault) throw fault.error;
    for await (const _ of content);
  } catch (error) {
    stream.destroy();
    content.return().catch(() => undefined);
    throw fault ? fault.error : error;
  }
}
