import { refusal } from '../http/endpoint/refusal.ts';

export const TOO_MANY_UPLOADS = refusal(
  503,
  (uploads: number) => `${uploads} uploads are under way already. Try again later.`,
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

  /** Lets an upload in before its body is read. @throws {HttpError} 503 when there are too many */
  async pass<T>(receive: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#most) throw TOO_MANY_UPLOADS(this.#most);
    this.#inside += 1;
    try {
      return await receive();
    } finally {
      this.#inside -= 1;
    }
  }
}
