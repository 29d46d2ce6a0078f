import type { Api, Fault } from './api.browser.ts';
import type { Errands } from './errands.browser.ts';
import type { Events, EventsParts } from './events.browser.ts';
import type { Lane } from './lane.browser.ts';
import type { Measure } from './measure.browser.ts';
import type { Condition, Details, Field, Item, Recording } from './recording.ts';
import type { Records } from './records.browser.ts';

/** The recordings of this window, and what can be done with them. */
export interface Queue {
  items: readonly Item[];
  /** Takes up what the browser remembers. */
  restore(): void;
  add(details: Details, files: ReadonlyMap<Field, File>): void;
  pause(item: Item): void;
  /** Lets one go on that is paused, or that has failed. */
  resume(item: Item): void;
  /** Gives the browser the files again. @returns why not, as a sentence; undefined when it has all */
  supply(item: Item, files: readonly File[]): string | undefined;
  /** Other details for one whose event could not be made of those it had. @returns why not, as a sentence */
  change(item: Item, details: Details): string | undefined;
  /** Ends one and deletes what has arrived of it; one that is over is forgotten. */
  remove(item: Item): Promise<void>;
  /** Lets all go on that wait for somebody to sign in. */
  signedIn(): void;
  /** Asks again for links that have been there for a while: they may be good no longer. */
  renewLinks(): void;
  /** Whether something would not go on if the window were closed. */
  busy(): boolean;
}

/** What a queue works with. */
export interface QueueParts {
  api: Pick<Api, 'removeUpload' | 'stillOurs'>;
  errands: Errands;
  measure: Measure;
  records: Records;
  lane: Lane;
  createEvents: (on: EventsParts['on']) => Events;
  /** An item is new, has changed, or is gone. */
  onChange: (item: Item) => void;
  onSignedOut: () => void;
}

/**
 * Uploads one recording after the other, makes an event of each and follows its processing.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createQueue(parts: QueueParts): Queue {
  const { api, errands, measure, records, lane, createEvents, onChange, onSignedOut } = parts;
  const ID_BYTES = 12;
  const items: Item[] = [];
  const has = (item: Item) => items.includes(item);
  const arrived = ({ recording }: Item) => recording.files.every(({ done }) => done);

  const turn = (item: Item, condition: Condition, note = '') => {
    if (!has(item)) return;
    item.condition = condition;
    item.note = note;
    records.save(item.recording);
    onChange(item);
  };

  /** Lets the next one send, if none does. */
  const advance = () => {
    if (items.some(({ condition }) => condition === 'uploading' || condition === 'waiting')) return;
    const next = items.find(({ condition }) => condition === 'queued');
    if (next) void send(next);
  };

  const refuse = (item: Item, status: number, sentence: string) => {
    if (!has(item)) return;
    if (status !== 401) return turn(item, 'failed', sentence);
    turn(item, 'signed out');
    onSignedOut();
  };

  const events = createEvents({ turn, refuse, has });

  const send = async (item: Item): Promise<void> => {
    if (lane.missing(item)) {
      turn(item, 'needs files');
      return advance();
    }
    turn(item, 'uploading');
    const find = () => measure(item.recording.files.filter(({ lost }) => lost));
    try {
      if (await errands.run(item, find, (reason) => turn(item, 'waiting', reason))) start(item);
    } catch (error) {
      const { status, message } = error as Fault;
      refuse(item, status, message);
      advance();
    }
  };

  const start = (item: Item) => {
    if (arrived(item)) return create(item);
    // Of one whose upload is gone the browser may have no file.
    if (lane.missing(item)) return void send(item);
    turn(item, 'uploading');
    lane.start(item, {
      onUrl: () => records.save(item.recording),
      onProgress: () => (item.condition === 'waiting' ? turn(item, 'uploading') : onChange(item)),
      onWaiting: (reason) => turn(item, 'waiting', reason),
      onArrived: () => (arrived(item) ? create(item) : turn(item, 'uploading')),
      onFault: (status, sentence) => {
        refuse(item, status, sentence);
        advance();
      },
    });
  };

  const create = (item: Item) => {
    void events.create(item);
    advance();
  };

  const takeUp = async (item: Item) => {
    const { stage } = item.recording;
    if (stage === 'over') return turn(item, 'over');
    if (stage === 'processing') return events.follow(item);
    if (stage === 'event') return create(item);
    await measure(item.recording.files).catch(() => undefined);
    // Somebody may have been quicker.
    if (!has(item) || item.condition !== 'needs files') return;
    if (arrived(item)) create(item);
    else turn(item, 'needs files');
  };

  const enter = (recording: Recording, condition: Condition) => {
    const item: Item = { recording, condition, note: '', rate: undefined, watch: undefined };
    items.push(item);
    turn(item, condition);
    return item;
  };

  /** In the order of time. */
  const newId = () => {
    const random = crypto.getRandomValues(new Uint8Array(ID_BYTES));
    return `${Date.now().toString(36)}-${[...random].map((byte) => byte.toString(36)).join('')}`;
  };

  return {
    items,
    restore: () => {
      for (const recording of records.all()) void takeUp(enter(recording, 'needs files'));
    },
    add: (details, files) => {
      const recorded = [...files].map(([field, { name, size, type, lastModified }]) => {
        const known = { field, name, size, type, lastModified };
        return { ...known, url: undefined, sent: 0, done: false, lost: false };
      });
      const nothing = { eventId: undefined, outcome: undefined };
      const item = enter({ id: newId(), details, files: recorded, stage: 'files', ...nothing }, 'queued');
      lane.give(item, [...files.values()]);
      advance();
    },
    pause: (item) => {
      errands.drop(item);
      lane.stop(item);
      turn(item, 'paused');
      advance();
    },
    resume: (item) => {
      if (item.recording.stage === 'event') return create(item);
      turn(item, 'queued');
      advance();
    },
    supply: (item, files) => {
      const known = lane.give(item, files);
      const missing = lane.missing(item);
      if (!missing) {
        turn(item, 'queued');
        advance();
        return undefined;
      }
      const { name, size } = missing;
      if (known.length > 0) return `“${name}” is still missing.`;
      const same = files.find((file) => file.name === name);
      if (!same) return `This is not “${name}”.`;
      return same.size === size
        ? `This “${name}” has been changed since. Cancel this recording to upload it as it is now.`
        : `This “${name}” is another file: it has ${same.size} bytes, and not ${size}.`;
    },
    change: (item, details) => {
      if (!has(item)) return 'The recording has been cancelled meanwhile.';
      if (item.condition !== 'failed') return 'The recording has gone on with the details that it had.';
      item.recording.details = details;
      if (item.recording.stage === 'event') create(item);
      else turn(item, 'failed', item.note);
      return undefined;
    },
    remove: async (item) => {
      const { recording } = item;
      lane.stop(item);
      errands.drop(item);
      if (await events.made(item)) return;
      const { id, files, stage } = recording;
      try {
        if (stage === 'files' || stage === 'event') {
          const urls = files.flatMap(({ url }) => url ?? []);
          // For another account they are not there, which would do.
          if (urls.length > 0) await api.stillOurs();
          for (const url of urls) await api.removeUpload(url);
        }
        if (!has(item)) return;
        records.remove(id);
        items.splice(items.indexOf(item), 1);
        onChange(item);
      } catch (error) {
        const { status, message } = error as Fault;
        refuse(item, status, `What has arrived could not be deleted. ${message}`);
      }
      advance();
    },
    signedIn: () => {
      for (const item of items.filter(({ condition }) => condition === 'signed out')) {
        const { stage } = item.recording;
        if (stage === 'event') create(item);
        else if (stage === 'processing') events.follow(item);
        else turn(item, 'queued');
      }
      advance();
    },
    renewLinks: () => events.renewLinks(items),
    busy: () =>
      items.some(({ condition }) => ['queued', 'uploading', 'waiting', 'creating'].includes(condition)),
  };
}
