import { refusal } from '#platform/http/errors/refusal.ts';
import { uploadsUnderWay } from '#platform/telemetry/metrics.ts';

export const TOO_MANY_UPLOADS = refusal(
  503,
  (uploads: number) => `As many uploads are under way as there may be at once (${uploads}). Try again later.`,
  [16],
  { Connection: 'close', 'Retry-After': '30' },
);

/** What becomes of an upload for which there is no place: it is refused, or waits for its turn for so long. */
export type WhenFull = 'refuse' | { waitMs: number };

/** One request at the gate: it is counted from the first `enter()` on until it is disposed of. */
export interface GatePass extends AsyncDisposable {
  /** @throws {HttpError} 503 when there are too many */
  enter(): Promise<void>;
}

/** How many uploads one process receives at once. */
export class UploadGate {
  readonly #most: number;
  #inside = 0;
  /** Who waits for a place, the first one first. */
  readonly #waiting = new Set<() => void>();

  /** @param most all that come unless given */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** Whether there is no place for another upload. */
  get full(): boolean {
    return this.#inside >= this.#most;
  }

  /** Lets a request in that may turn out to be an upload; dispose of its pass when it has ended. */
  open(whenFull: WhenFull = 'refuse'): GatePass {
    let entered: Promise<void> | undefined;
    return {
      enter: () => (entered ??= this.#enter(whenFull)),
      [Symbol.asyncDispose]: async () => {
        const inside = await entered?.then(
          () => true,
          () => false,
        );
        if (inside) this.#leave();
      },
    };
  }

  async #enter(whenFull: WhenFull): Promise<void> {
    if (!this.full) {
      this.#inside += 1;
      uploadsUnderWay.inc();
      return;
    }
    if (whenFull === 'refuse') throw TOO_MANY_UPLOADS(this.#most);
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(turn);
        reject(TOO_MANY_UPLOADS(this.#most));
      }, whenFull.waitMs);
      this.#waiting.add(turn);
    });
  }

  /** Whoever leaves hands its place over, so the count stays. */
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
