import type { TestApp } from './app.ts';
import { form, type Part } from './form.ts';

/** Posts a form to an event whose second half waits until something has happened. */
export function updateAround(
  app: TestApp,
  id: string,
  parts: readonly Part[],
  happens: () => Promise<unknown>,
): Promise<Response> {
  const { type, body } = form(parts);
  const half = Math.floor(body.length / 2);
  let pulls = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      pulls += 1;
      if (pulls === 1) return controller.enqueue(body.subarray(0, half));
      await happens();
      controller.enqueue(body.subarray(half));
      controller.close();
    },
  });
  const init = { method: 'POST', headers: { 'Content-Type': type }, body: stream, duplex: 'half' };
  return app.request(`/api/events/${id}`, init as RequestInit);
}
