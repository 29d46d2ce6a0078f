/** The pictures over which a lasting rate is measured. */
const LASTING = 32;
/** More pictures than codecs store out of order. */
const REORDERED = 32;
/** In ticks. The encoder moves a picture that comes early by this to the next tick, once. */
const EARLY = 0.5;

/** Measures the lowest frame rate that loses no picture of a stream. Pauses between pictures do not lower it. */
export class PictureRate {
  /** The latest times, in order. */
  readonly #times: number[] = [];
  #rate = 0;

  /** Adds the time of a picture, in seconds, in the order of the file. */
  add(time: number): void {
    const before = this.#times.findLastIndex((earlier) => earlier <= time);
    if (this.#times[before] === time) return;
    this.#times.splice(before + 1, 0, time);
    if (this.#times.length > LASTING + REORDERED) this.#measure();
  }

  /** @returns pictures per second; null if there are fewer than two */
  end(): number | null {
    while (this.#times.length > 1) this.#measure();
    return this.#rate || null;
  }

  /** Takes the pictures that follow the earliest one into account, and removes it. */
  #measure(): void {
    const first = this.#times.shift() ?? 0;
    for (const [i, time] of this.#times.slice(0, LASTING).entries()) {
      const ticks = i + 1 === LASTING ? LASTING : i + 1 - EARLY;
      this.#rate = Math.max(this.#rate, ticks / (time - first));
    }
  }
}
