import type { Meter } from './meter.browser.ts';
import type { Field, Item, RecordedFile } from './recording.ts';
import type { StartTransfer, Transfer } from './transfer.browser.ts';

/** What becomes of a recording whose files are on their way. */
export interface LaneEvents {
  /** The address of a file's upload is known. */
  onUrl(): void;
  onProgress(): void;
  /** One of its files waits. @param reason a sentence, or nothing */
  onWaiting(reason: string): void;
  /** One of its files has arrived. */
  onArrived(): void;
  /** None of its files goes on. */
  onFault(status: number, sentence: string): void;
}

/** The files that the browser has of each recording, on their way or not. */
export interface Lane {
  /** Takes those that belong to the recording. @returns those it knows by name, size and time */
  give(item: Item, files: readonly File[]): File[];
  /** A file that has to arrive and that the browser does not have. */
  missing(item: Item): RecordedFile | undefined;
  start(item: Item, events: LaneEvents): void;
  stop(item: Item): void;
  /** Lets what waits try again now. */
  nudge(): void;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createLane(startTransfer: StartTransfer, createMeter: () => Meter): Lane {
  interface Work {
    sources: Map<Field, File>;
    meter: Meter;
  }
  const works = new WeakMap<Item, Work>();
  const running = new Map<Item, Map<Field, Transfer>>();
  const workOf = (item: Item): Work => {
    const work = works.get(item) ?? { sources: new Map<Field, File>(), meter: createMeter() };
    works.set(item, work);
    return work;
  };
  const leftOf = ({ recording }: Item) => recording.files.filter(({ done }) => !done);

  const stop = (item: Item) => {
    for (const transfer of running.get(item)?.values() ?? []) transfer.stop();
    running.delete(item);
    workOf(item).meter.reset();
    item.rate = undefined;
  };

  const begin = (item: Item, file: RecordedFile, source: File, events: LaneEvents): Transfer => {
    const { meter, sources } = workOf(item);
    return startTransfer(source, file, {
      onUrl: (url) => {
        file.url = url;
        events.onUrl();
      },
      onProgress: (bytes) => {
        file.sent = bytes;
        const now = performance.now();
        meter.note(
          item.recording.files.reduce((sum, { sent }) => sum + sent, 0),
          now,
        );
        item.rate = meter.rate(now);
        events.onProgress();
      },
      onWaiting: (reason) => {
        meter.reset();
        item.rate = undefined;
        events.onWaiting(reason);
      },
      onDone: () => {
        Object.assign(file, { done: true, sent: file.size });
        running.get(item)?.delete(file.field);
        events.onArrived();
      },
      onFault: (status, sentence) => {
        stop(item);
        if (status === 404 || status === 410) file.lost = true;
        // It was not an answer: the file is not what it was.
        if (status === 0) sources.delete(file.field);
        events.onFault(status, sentence);
      },
    });
  };

  const missing = (item: Item) => leftOf(item).find(({ field }) => !workOf(item).sources.has(field));

  return {
    give: (item, files) => {
      const known: File[] = [];
      for (const { field, name, size, lastModified } of leftOf(item)) {
        const file = files.find(
          (each) =>
            each.name === name &&
            each.size === size &&
            each.lastModified === lastModified &&
            !known.includes(each),
        );
        if (!file) continue;
        workOf(item).sources.set(field, file);
        known.push(file);
      }
      return known;
    },
    missing,
    start: (item, events) => {
      const transfers = new Map<Field, Transfer>();
      running.set(item, transfers);
      for (const file of leftOf(item)) {
        const source = workOf(item).sources.get(file.field);
        if (source) transfers.set(file.field, begin(item, file, source, events));
      }
    },
    stop,
    nudge: () => {
      for (const transfers of running.values()) for (const each of transfers.values()) each.nudge();
    },
  };
}
