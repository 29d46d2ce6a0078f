import type { Api, Fault } from './api.browser.ts';
import type { Item } from './recording.ts';

/** What recordings have the server do: for each one thing at a time, for as long as that takes. */
export interface Errands {
  /**
   * Does some work under the page's account, again for as long as it may succeed later.
   *
   * @param onWait it has not succeeded yet
   * @returns whether it is done, and still wanted
   * @throws {Fault} one that does not pass
   */
  run(item: Item, work: () => Promise<void>, onWait: (reason: string) => void): Promise<boolean>;
  /** What an item waits for is not wanted any more. */
  drop(item: Item): void;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createErrands(api: Pick<Api, 'stillOurs'>): Errands {
  const FIRST_MS = 4_000;
  const LONGEST_MS = 60_000;
  const current = new WeakMap<Item, symbol>();
  return {
    run: async (item, work, onWait) => {
      const errand = Symbol();
      current.set(item, errand);
      const wanted = () => current.get(item) === errand;
      for (let delay = FIRST_MS; wanted(); delay = Math.min(LONGEST_MS, 2 * delay)) {
        try {
          await api.stillOurs();
          if (!wanted()) return false;
          await work();
          return wanted();
        } catch (error) {
          if (!wanted()) return false;
          const { passes, message } = error as Fault;
          if (!passes) throw error;
          onWait(message);
        }
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
      return false;
    },
    drop: (item) => {
      current.delete(item);
    },
  };
}
