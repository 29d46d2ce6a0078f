import { refusal } from '../http/endpoint/refusal.ts';

export const TOO_MANY_UPLOADS = refusal(
  503,
  (uploads: number) => `As many uploads are under way as there may be at once (${uploads}). Try again later.`,
  [16],
  { Connection: 'close', 'Retry-After': '30' },
);

/** How many uploads one process receives at once. */
export class UploadGate {
  readonly #most: number;
  #inside = 0;

  /** @param most all that come unless given */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /**
   * Carries out a request that may turn out to be an upload. It is counted from the first `enter()` on to its end.
   *
   * @param receive is given `enter`, which throws 503 when there are too many
   */
  async pass<T>(receive: (enter: () => void) => Promise<T>): Promise<T> {
    let inside = false;
    const enter = () => {
      if (inside) return;
      if (this.#inside >= this.#most) throw TOO_MANY_UPLOADS(this.#most);
      this.#inside += 1;
      inside = true;
    };
    try {
      return await receive(enter);
    } finally {
      if (inside) this.#inside -= 1;
    }
  }
}
