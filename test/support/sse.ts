/** A message of a stream. */
export interface StreamMessage {
  id: number;
  kind: string;
  data: Record<string, unknown>;
}

/** Reads Server-Sent Events as a client does that remembers the last one. */
export class SseReader {
  readonly messages: StreamMessage[] = [];
  readonly #controller = new AbortController();
  #text = '';
  #ended = false;
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;

  /** @param open makes the request with a signal that ends it */
  static async open(open: (signal: AbortSignal) => Promise<Response>): Promise<SseReader> {
    const reader = new SseReader();
    const answer = await open(reader.#controller.signal);
    if (!answer.ok || !answer.body) throw new Error(`${answer.status}: ${await answer.text()}`);
    void reader.#read(answer.body);
    return reader;
  }

  get lastId(): number {
    return this.messages.at(-1)?.id ?? 0;
  }

  /** Whether the server has ended it, or it was closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Everything that came, also what is no message. */
  get raw(): string {
    return this.#text;
  }

  close(): void {
    this.#controller.abort();
    // In one process nobody hears of that.
    this.#body?.cancel().catch(() => undefined);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      this.#body = body.getReader();
      for (;;) {
        const { done, value } = await this.#body.read();
        if (done) break;
        const text = decoder.decode(value, { stream: true });
        this.#text += text;
        const parts = (rest + text).split('\n\n');
        rest = parts.pop() ?? '';
        for (const part of parts) this.#take(part);
      }
    } catch {
      // It was closed, or the server died.
    }
    this.#ended = true;
  }

  #take(text: string): void {
    const fields = new Map(text.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^[^:]*: ?/, '')]));
    const data = fields.get('data');
    if (data === undefined) return;
    this.messages.push({
      id: Number(fields.get('id')),
      kind: fields.get('event') ?? '',
      data: JSON.parse(data) as Record<string, unknown>,
    });
  }
}
