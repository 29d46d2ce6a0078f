import type { ServerResponse } from 'node:http';

const SECOND_MS = 1000;

/** Counts the requests to a server, also those of each second and those at the same time. */
export class RequestCounter {
  total = 0;
  /** The most requests within any second. */
  perSecond = 0;
  atOnce = 0;
  /** The largest offset of a list. */
  deepestOffset = 0;
  #open = 0;
  readonly #paths = new Map<string, number>();
  readonly #lastSecond: number[] = [];

  begin(path: string, response: ServerResponse): void {
    const now = performance.now();
    this.total += 1;
    this.#paths.set(shape(path), this.of(path) + 1);
    this.#lastSecond.push(now);
    while ((this.#lastSecond[0] ?? now) <= now - SECOND_MS) this.#lastSecond.shift();
    this.perSecond = Math.max(this.perSecond, this.#lastSecond.length);
    this.#open += 1;
    this.atOnce = Math.max(this.atOnce, this.#open);
    response.once('close', () => {
      this.#open -= 1;
    });
  }

  page(offset: number): void {
    this.deepestOffset = Math.max(this.deepestOffset, offset);
  }

  /** Returns the requests for a path, or for all paths of its shape. */
  of(path: string): number {
    return this.#paths.get(shape(path)) ?? 0;
  }
}

/** Replaces identifiers, so that a large catalogue has few shapes. */
const shape = (path: string) => path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*');
