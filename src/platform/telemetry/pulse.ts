/** Work that a process does again and again. */
export interface Round {
  readonly name: string;
  /** How long the present run has taken, in milliseconds; 0 while none is under way. */
  runningMs(): number;
}

/** Whether the loops of a process get round: one that hangs fails nothing, and nobody would know. */
export class Pulse {
  readonly #rounds: Round[] = [];

  watch(...rounds: Round[]): void {
    this.#rounds.push(...rounds);
  }

  get rounds(): readonly Round[] {
    return this.#rounds;
  }

  /** The names of those whose present run takes longer than this. */
  stuck(ms: number): string[] {
    return this.#rounds.filter((round) => round.runningMs() > ms).map(({ name }) => name);
  }
}
