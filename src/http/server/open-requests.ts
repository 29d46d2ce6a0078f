/** The requests that a handler works on, for a server that must wait for them by itself. */
export class OpenRequests {
  #open = 0;
  #closing = false;
  #onSettled: () => void = () => undefined;

  /** Lets the handler work on a request, unless the server is closing. */
  async answer(handle: () => Response | Promise<Response>): Promise<Response> {
    if (this.#closing) return closing();
    this.#open += 1;
    try {
      return await handle();
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#onSettled();
    }
  }

  /** Refuses every further request, and resolves when the handler is done with those under way. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#onSettled = resolve));
  }
}

function closing(): Response {
  return new Response('The server is stopping.', {
    status: 503,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '5', Connection: 'close' },
  });
}
