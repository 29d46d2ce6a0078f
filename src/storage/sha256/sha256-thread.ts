import { Worker } from 'node:worker_threads';
import type { Sha256Answer, Sha256Task } from './sha256.worker.ts';

/** Its collector comes along often, else memory that was shared with it stays for long when nobody else has it any more. */
const LIMITS = { resourceLimits: { maxYoungGenerationSizeMb: 1 } };

/** A thread that computes SHA-256. It keeps no process alive that nobody asked it for anything. */
export class Sha256Thread {
  readonly #worker = new Worker(new URL('./sha256.worker.ts', import.meta.url), LIMITS);
  readonly #asked = new Map<number, PromiseWithResolvers<string | undefined>>();
  #ended: Error | undefined;
  #tasks = 0;
  #streams = 0;

  constructor() {
    this.#worker.on('message', ({ task, sum }: Sha256Answer) => {
      this.#asked.get(task)?.resolve(sum);
      this.#asked.delete(task);
      if (this.#asked.size === 0) this.#worker.unref();
    });
    for (const name of ['error', 'exit'] as const) this.#worker.on(name, (cause) => this.#end(cause));
    this.#worker.unref();
  }

  get works(): boolean {
    return this.#ended === undefined;
  }

  /** The number of another stream. */
  nextStream(): number {
    return this.#streams++;
  }

  /**
   * Has something done for a stream, after all that was asked for before.
   *
   * @returns the sum, where that is asked for
   * @throws when the thread has ended
   */
  ask(task: Omit<Sha256Task, 'task'>): Promise<string | undefined> {
    if (this.#ended) return Promise.reject(this.#ended);
    const number = this.#tasks++;
    const asked = Promise.withResolvers<string | undefined>();
    if (this.#asked.size === 0) this.#worker.ref();
    this.#asked.set(number, asked);
    this.#worker.postMessage({ ...task, task: number } satisfies Sha256Task);
    return asked.promise;
  }

  #end(cause: unknown): void {
    this.#ended ??= new Error('The thread that computes checksums has ended.', { cause });
    for (const { reject } of this.#asked.values()) reject(this.#ended);
    this.#asked.clear();
  }
}
