import { withTimeout } from '#platform/process/timeout.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** What is to be done, within so many milliseconds. */
type Work = (withinMs: number) => Promise<void>;

/** npm passes on the Ctrl-C that the terminal has delivered already; that is no second wish. */
const REPEAT_MS = 500;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** What is left of the time for releasing: a tenth, and at most this. */
const RELEASE_MS = 3_000;
/** Whatever hangs, the process ends this long after its deadline. */
const LAST_RESORT_MS = 500;

/**
 * Ends a process in order and in time: its parts finish what they do, all at once, then its resources are released.
 * One deadline holds for everything together.
 */
export class Shutdown {
  readonly #log: Logger;
  readonly #deadlineMs: number;
  readonly #exit: (code: number) => void;
  readonly #parts: [name: string, finish: Work][] = [];
  readonly #resources: [name: string, release: Work][] = [];
  #startedAt: number | undefined;

  constructor(options: { log: Logger; deadlineMs: number; exit?: (code: number) => void }) {
    this.#log = options.log;
    this.#deadlineMs = options.deadlineMs;
    this.#exit = options.exit ?? ((code) => process.exit(code));
  }

  /** Adds a part that has something to finish. */
  finish(name: string, work: Work): void {
    this.#parts.push([name, work]);
  }

  /** Adds what is released when all parts have finished, or have run out of time. */
  release(name: string, work: Work): void {
    this.#resources.push([name, work]);
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
        this.end(0);
      });
    }
  }

  /** Runs everything, unless it is under way, and ends the process. */
  end(code: number): void {
    if (this.#startedAt !== undefined) return;
    setTimeout(() => this.#exit(code), this.#deadlineMs + LAST_RESORT_MS).unref();
    void this.run().then(() => this.#exit(code));
  }

  /** Runs everything. What fails or takes too long is logged, and the rest runs. */
  async run(): Promise<void> {
    const startedAt = performance.now();
    this.#startedAt = startedAt;
    const left = () => Math.max(0, Math.round(this.#deadlineMs - (performance.now() - startedAt)));
    const forParts = this.#deadlineMs - Math.min(RELEASE_MS, this.#deadlineMs / 10);
    await Promise.all(this.#parts.map(([name, work]) => this.#carryOut(name, work, forParts)));
    for (const [name, work] of this.#resources) await this.#carryOut(name, work, left());
  }

  async #carryOut(name: string, work: Work, withinMs: number): Promise<void> {
    const started = performance.now();
    try {
      await withTimeout(work(withinMs), withinMs, `It took longer than ${withinMs} ms.`);
      this.#log.info({ phase: name, ms: Math.round(performance.now() - started) }, 'phase of the shutdown done');
    } catch (error) {
      this.#log.error({ err: error, phase: name }, 'phase of the shutdown failed');
    }
  }
}
