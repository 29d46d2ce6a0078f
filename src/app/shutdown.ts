import { withTimeout } from '#platform/process/timeout.ts';
import type { Logger } from '#platform/telemetry/log.ts';

type Work = (withinMs: number) => Promise<void>;

/** npm repeats the Ctrl-C that the terminal has already delivered; that is no second signal. */
const REPEAT_MS = 500;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
/** Reserved for releasing: a tenth of the deadline, at most this. */
const RELEASE_MS = 3_000;
/** The process exits this long after its deadline, whatever hangs. */
const LAST_RESORT_MS = 500;

/** Stops a process within one deadline: its parts finish concurrently, then its resources are released in order. */
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

  finish(name: string, work: Work): void {
    this.#parts.push([name, work]);
  }

  /** Adds a resource to release after all parts have finished or run out of time. */
  release(name: string, work: Work): void {
    this.#resources.push([name, work]);
  }

  /** Starts at the first SIGTERM or SIGINT; the second one exits immediately. */
  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.#startedAt !== undefined) {
          if (performance.now() - this.#startedAt >= REPEAT_MS) this.#exit(EXIT_CODES[signal]);
          return;
        }
        this.#log.info({ signal }, 'stopping; a second signal stops immediately');
        this.end(0);
      });
    }
  }

  end(code: number): void {
    if (this.#startedAt !== undefined) return;
    setTimeout(() => this.#exit(code), this.#deadlineMs + LAST_RESORT_MS).unref();
    void this.run().then(() => this.#exit(code));
  }

  /** Runs the shutdown. A step that fails or takes too long is logged, and the next one runs. */
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
      this.#log.info({ phase: name, ms: Math.round(performance.now() - started) }, 'shutdown phase finished');
    } catch (error) {
      this.#log.error({ err: error, phase: name }, 'shutdown phase failed');
    }
  }
}
