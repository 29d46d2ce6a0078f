import { refusal } from '#platform/http/errors/errors.ts';
import { uploadsUnderWay } from '#platform/telemetry/metrics.ts';

export const TOO_MANY_UPLOADS = refusal(
  503,
  (uploads: number) => `The maximum number of concurrent uploads (${uploads}) is reached. Try again later.`,
  [16],
  { Connection: 'close', 'Retry-After': '30' },
);

/** One request at the limiter, counted from its first `enter()` until its disposal. */
export interface UploadPass extends AsyncDisposable {
  /** @throws {HttpError} 503 above the limit */
  enter(): Promise<void>;
}

/** Limits the concurrent uploads of one process. */
export class UploadLimiter {
  readonly #most: number;
  #inside = 0;
  /** Waiting requests in order of arrival. */
  readonly #waiting = new Set<() => void>();

  /** @param most unlimited by default */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** True if another upload would exceed the limit. */
  get full(): boolean {
    return this.#inside >= this.#most;
  }

  /**
   * Returns a pass for a request that may turn out to be an upload. Dispose of it after the request.
   *
   * @param waitMs the time that it waits above the limit; 0 to be refused immediately
   */
  open(waitMs = 0): UploadPass {
    let entered: Promise<void> | undefined;
    return {
      enter: () => (entered ??= this.#enter(waitMs)),
      [Symbol.asyncDispose]: async () => {
        const inside = await entered?.then(
          () => true,
          () => false,
        );
        if (inside) this.#leave();
      },
    };
  }

  async #enter(waitMs: number): Promise<void> {
    if (!this.full) {
      this.#inside += 1;
      uploadsUnderWay.inc();
      return;
    }
    if (waitMs === 0) throw TOO_MANY_UPLOADS(this.#most);
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(turn);
        reject(TOO_MANY_UPLOADS(this.#most));
      }, waitMs);
      this.#waiting.add(turn);
    });
  }

  /** Passes the place to the next waiting request, if any. */
  #leave(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#inside -= 1;
      uploadsUnderWay.dec();
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
