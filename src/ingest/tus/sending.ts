import { BodyReader } from '#platform/http/form/body.ts';

/** The bytes that a request sends, of which no more may be wanted before it has ended. */
export class Sending {
  #body: BodyReader | undefined;
  #enough = false;
  #ended = false;

  /** Begins to read. @param idleMs as `BodyReader` has it */
  begin(request: Request, idleMs: number): void {
    this.#body = new BodyReader(request, idleMs);
    if (this.#enough) this.enough();
  }

  /** The next chunk, undefined at the end. @throws as `BodyReader` */
  async read(): Promise<Uint8Array | undefined> {
    if (!this.#body) return undefined;
    const chunk = await this.#body.read();
    if (!chunk && !this.#enough) this.#ended = true;
    return chunk;
  }

  /** Ends it with what has come, also when it has not begun. */
  enough(): void {
    this.#enough = true;
    void this.#body?.cancel();
  }

  /** Whether the client may still be sending what nobody will read. */
  get unread(): boolean {
    return this.#body !== undefined && !this.#ended;
  }
}
