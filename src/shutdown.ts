import type { Logger } from './telemetry.ts';
import { withTimeout } from './timeout.ts';

interface Phase {
  name: string;
  run: () => Promise<void>;
}

/** npm passes on the Ctrl-C that the terminal has delivered already; that is no second wish. */
const REPEAT_MS = 500;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Ends a process in order: phases run one after the other, each within the deadline. */
export class Shutdown {
  readonly #log: Logger;
  readonly #deadlineMs: number;
  readonly #exit: (code: number) => void;
  readonly #phases: Phase[] = [];
  #startedAt: number | undefined;

  constructor(options: { log: Logger; deadlineMs: number; exit?: (code: number) => void }) {
    this.#log = options.log;
    this.#deadlineMs = options.deadlineMs;
    this.#exit = options.exit ?? ((code) => process.exit(code));
  }

  /** Adds what is to be done after the phases added before. */
  phase(name: string, run: () => Promise<void>): void {
    this.#phases.push({ name, run });
  }

  /** Begins with the first SIGTERM or SIGINT; the second one exits at once. */
  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.#startedAt !== undefined) {
          if (performance.now() - this.#startedAt >= REPEAT_MS) this.#exit(EXIT_CODES[signal]);
          return;
        }
        this.#log.info({ signal }, 'stopping; a second signal stops at once');
        void this.run().then(() => this.#exit(0));
      });
    }
  }

  /** Runs the phases. One that fails or takes too long is logged, and the next one runs. */
  async run(): Promise<void> {
    this.#startedAt = performance.now();
    for (const { name, run } of this.#phases) {
      const started = performance.now();
      try {
        await withTimeout(run(), this.#deadlineMs, `It took longer than ${this.#deadlineMs} ms.`);
        this.#log.info(
          { phase: name, ms: Math.round(performance.now() - started) },
          'phase of the shutdown done',
        );
      } catch (error) {
        this.#log.error({ err: error, phase: name }, 'phase of the shutdown failed');
      }
    }
  }
}
