export interface Round {
  readonly name: string;
  /** Duration of the current run in milliseconds; 0 while idle. */
  runningMs(): number;
}

/** Detects loops that hang; nothing else would report them. */
export class Pulse {
  readonly #rounds: Round[] = [];

  watch(...rounds: Round[]): void {
    this.#rounds.push(...rounds);
  }

  get rounds(): readonly Round[] {
    return this.#rounds;
  }

  /** Returns the names of loops whose current run exceeds a duration. */
  stuck(ms: number): string[] {
    return this.#rounds.filter((round) => round.runningMs() > ms).map(({ name }) => name);
  }
}
