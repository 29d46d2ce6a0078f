const LEAST = 2;
const MOST = 8;
/** Parts in line somewhere on the way: fewer leave the line idle at times, more only take memory. */
const FEW_IN_LINE = 2;
const MANY_IN_LINE = 4;

/**
 * How many parts of an upload should be on their way at once. A store that is far away needs many; where parts take the
 * longer the more there are, they stand in line, be it for the line, the disk or the processor, and more would not be
 * stored sooner.
 */
export class PartsUnderWay {
  #most = LEAST;
  #fastestMs = Number.POSITIVE_INFINITY;

  /** As things are; from 2 to 8. */
  get most(): number {
    return this.#most;
  }

  /**
   * A part has been stored.
   *
   * @param ms how long that took
   * @param atOnce how many parts were under way when it was sent, with itself
   */
  took(ms: number, atOnce: number): void {
    this.#fastestMs = Math.min(this.#fastestMs, ms);
    const inLine = atOnce * (1 - this.#fastestMs / ms);
    if (inLine < FEW_IN_LINE) this.#most = Math.min(MOST, Math.max(this.#most, atOnce + 1));
    else if (inLine > MANY_IN_LINE) this.#most = Math.max(LEAST, this.#most - 1);
  }
}
