import type { Api } from './api.browser.ts';
import type { RecordedFile } from './recording.ts';

/**
 * Finds out how much of each file has arrived. An upload that is not there is forgotten at the second time: a proxy, or a
 * server that is just being replaced, says 404 as well. A file whose upload cannot be asked for stays as it is.
 *
 * @throws {Fault}
 */
export type Measure = (files: readonly RecordedFile[]) => Promise<void>;

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createMeasure(api: Pick<Api, 'offsetOf' | 'stillOurs'>): Measure {
  return async (files) => {
    for (const file of files) {
      if (!file.url) continue;
      const offset = await api.offsetOf(file.url);
      if (offset !== undefined) {
        Object.assign(file, { sent: offset, done: offset === file.size, lost: false });
      } else if (!file.lost) {
        file.lost = true;
      } else {
        // For another account it is not there either.
        await api.stillOurs();
        Object.assign(file, { url: undefined, sent: 0, done: false, lost: false });
      }
    }
  };
}
