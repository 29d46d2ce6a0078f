/**
 * A JSON array, written batch by batch as it is read: nothing is asked for ahead of time. When a batch fails, the
 * stream does, and with it the connection: an array that has been closed is complete.
 *
 * @param onError is told of a failure, which the client can only see as a broken connection
 */
export function streamedArray(
  batches: AsyncGenerator<readonly unknown[]>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let separator = '[';
  let gone = false;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          // A call that enqueues nothing would be the last one.
          let items = '';
          while (items === '') {
            const { value, done } = await batches.next();
            // The client left meanwhile.
            if (gone) return;
            if (done) {
              controller.enqueue(encoder.encode(separator === '[' ? '[]' : ']'));
              controller.close();
              return;
            }
            items = value.map((item) => JSON.stringify(item)).join(',');
          }
          controller.enqueue(encoder.encode(separator + items));
          separator = ',';
        } catch (error) {
          if (gone) return;
          onError(error);
          // The server writes it to the terminal, too.
          controller.error(new Error('The list broke off.'));
        }
      },
      cancel: async () => {
        gone = true;
        await batches.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
