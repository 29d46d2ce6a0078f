type Step = () => Promise<void> | void;

/** What has to be undone, whatever ends the run: steps run in the reverse order, each once. */
export class Cleanup {
  readonly #steps = new Set<Step>();
  #running: Promise<void> | undefined;

  /** @returns runs this step now instead of at the end */
  add(step: Step): () => Promise<void> {
    const own = () => step();
    this.#steps.add(own);
    return async () => {
      if (this.#steps.delete(own)) await own();
    };
  }

  /** Waits for something that is being started; it is stopped at the end, also when that comes before it is there. */
  async own<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const forget = this.add(async () => (await starting).stop());
    try {
      return await starting;
    } catch (error) {
      await forget().catch(() => undefined);
      throw error;
    }
  }

  /** Whether the end has begun: faults from here on are of no interest. */
  get begun(): boolean {
    return this.#running !== undefined;
  }

  /** A step that fails is reported and the next one runs. Called again, it is the same run. */
  run(): Promise<void> {
    this.#running ??= this.#undo();
    return this.#running;
  }

  async #undo(): Promise<void> {
    for (const step of [...this.#steps].reverse()) {
      if (!this.#steps.delete(step)) continue;
      try {
        await step();
      } catch (error) {
        console.error(`Cleaning up: ${error instanceof Error ? error.message : error}`);
      }
    }
  }
}

/** npm hands on the signal that the terminal has sent to everybody already. */
const SAME_SIGNAL_MS = 1_000;

/** On Ctrl-C or SIGTERM, cleans up and ends the process; a later signal ends it at once. */
export function cleanUpOnSignals(cleanup: Cleanup): void {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
  let stoppingSince: number | undefined;
  for (const [signal, code] of Object.entries(codes)) {
    process.on(signal, () => {
      if (stoppingSince === undefined) {
        stoppingSince = performance.now();
        // What was being measured fails now; that is no news.
        process.on('unhandledRejection', () => undefined);
        process.on('uncaughtException', () => undefined);
        void cleanup.run().finally(() => process.exit(code));
      } else if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(code);
    });
  }
}
