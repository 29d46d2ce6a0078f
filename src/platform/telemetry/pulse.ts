export interface MonitoredLoop {
  readonly name: string;
  /** Duration of the current run in milliseconds; 0 while idle. */
  runningMs(): number;
}

/** Detects loops that hang; nothing else would report them. */
export class LoopMonitor {
  readonly rounds: MonitoredLoop[] = [];

  watch(...rounds: MonitoredLoop[]): void {
    this.rounds.push(...rounds);
  }

  /** Returns the names of loops whose current run exceeds a duration. */
  stuck(ms: number): string[] {
    return this.rounds.filter((round) => round.runningMs() > ms).map(({ name }) => name);
  }
}
