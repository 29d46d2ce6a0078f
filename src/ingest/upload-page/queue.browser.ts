import type { Api, Fault } from './api.browser.ts';
import type { Follow } from './follow.browser.ts';
import type { Lane } from './lane.browser.ts';
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
  /** Other details for one whose event could not be made of those it had. */
  change(item: Item, details: Details): void;
  /** Ends one and deletes what has arrived of it; one that is over is forgotten. */
  remove(item: Item): Promise<void>;
  /** Lets all go on that wait for somebody to sign in. */
  signedIn(): void;
  /** Whether something would not go on if the window were closed. */
  busy(): boolean;
}

/** What a queue works with. */
export interface QueueParts {
  api: Pick<Api, 'createEvent' | 'offsetOf' | 'removeUpload'>;
  records: Records;
  lane: Lane;
  follow: Follow;
  /** An item is new, has changed, or is gone. */
  onChange: (item: Item) => void;
  onSignedOut: () => void;
}

/**
 * Uploads one recording after the other, makes an event of each and follows its processing.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createQueue({ api, records, lane, follow, onChange, onSignedOut }: QueueParts): Queue {
  const RETRY_MS = 4_000;
  const ID_BYTES = 12;
  const items: Item[] = [];
  const has = (item: Item) => items.includes(item);
  const arrived = ({ recording }: Item) => recording.files.every(({ done }) => done);

  const turn = (item: Item, condition: Condition, note = '') => {
    item.condition = condition;
    item.note = note;
    records.save(item.recording);
    onChange(item);
  };

  /** Lets the next one send, if none does. */
  const advance = () => {
    if (items.some(({ condition }) => condition === 'uploading' || condition === 'waiting')) return;
    const next = items.find(({ condition }) => condition === 'queued');
    if (next) send(next);
  };

  const refuse = (item: Item, status: number, sentence: string) => {
    if (status !== 401) return turn(item, 'failed', sentence);
    turn(item, 'signed out');
    onSignedOut();
  };

  const send = (item: Item) => {
    if (arrived(item)) return void create(item);
    if (lane.missing(item)) {
      turn(item, 'needs files');
      return advance();
    }
    turn(item, 'uploading');
    lane.start(item, {
      onUrl: () => records.save(item.recording),
      onProgress: () => (item.condition === 'waiting' ? turn(item, 'uploading') : onChange(item)),
      onWaiting: (reason) => turn(item, 'waiting', reason),
      onArrived: () => (arrived(item) ? void create(item) : turn(item, 'uploading')),
      onFault: (status, sentence) => {
        refuse(item, status, sentence);
        advance();
      },
    });
  };

  const create = async (item: Item): Promise<void> => {
    const { recording } = item;
    recording.stage = 'event';
    turn(item, 'creating');
    advance();
    try {
      recording.eventId = await api.createEvent(recording);
      recording.stage = 'processing';
      watch(item);
    } catch (error) {
      const { status, passes, message } = error as Fault;
      if (passes) {
        turn(item, 'creating', message);
        setTimeout(() => void create(item), RETRY_MS);
      } else if (status === 404 || (status === 400 && message.includes('is not finished'))) {
        // An upload has gone meanwhile.
        recording.stage = 'files';
        await measure(item);
        turn(item, 'failed', message);
      } else refuse(item, status, message);
    }
  };

  const watch = (item: Item) => {
    const { recording } = item;
    turn(item, 'processing');
    follow(recording.eventId ?? '', (news) => {
      if (!has(item)) return false;
      if (news.kind === 'signed out') refuse(item, 401, '');
      else if (news.kind === 'goes on') turn(item, 'processing', news.sentence);
      else {
        Object.assign(recording, { stage: 'over', watch: news.watch, outcome: news.sentence });
        turn(item, 'over');
      }
      return true;
    });
  };

  /** Finds out how much of each file has arrived. */
  const measure = async ({ recording }: Item) => {
    for (const file of recording.files) {
      if (!file.url) continue;
      const offset = await api.offsetOf(file.url).catch(() => file.sent);
      if (offset === undefined) Object.assign(file, { url: undefined, sent: 0, done: false });
      else Object.assign(file, { sent: offset, done: offset === file.size });
    }
  };

  const takeUp = async (item: Item) => {
    const { stage } = item.recording;
    if (stage === 'over') return turn(item, 'over');
    if (stage === 'processing') return watch(item);
    if (stage === 'event') return create(item);
    await measure(item);
    // Somebody may have been quicker.
    if (!has(item) || item.condition !== 'needs files') return;
    if (arrived(item)) await create(item);
    else turn(item, 'needs files');
  };

  const enter = (recording: Recording, condition: Condition) => {
    const item: Item = { recording, condition, note: '', rate: undefined };
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
      const recorded = [...files].map(([field, { name, size, type }]) => {
        return { field, name, size, type, url: undefined, sent: 0, done: false };
      });
      const nothing = { eventId: undefined, watch: undefined, outcome: undefined };
      const item = enter({ id: newId(), details, files: recorded, stage: 'files', ...nothing }, 'queued');
      lane.give(item, [...files.values()]);
      advance();
    },
    pause: (item) => {
      lane.stop(item);
      turn(item, 'paused');
      advance();
    },
    resume: (item) => {
      if (item.recording.stage === 'event') return void create(item);
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
      return same
        ? `This “${name}” is another file: it has ${same.size} bytes, and not ${size}.`
        : `This is not “${name}”.`;
    },
    change: (item, details) => {
      item.recording.details = details;
      turn(item, item.condition, item.note);
      if (item.condition === 'failed' && item.recording.stage === 'event') void create(item);
    },
    remove: async (item) => {
      lane.stop(item);
      const { id, files, stage } = item.recording;
      try {
        if (stage === 'files' || stage === 'event') {
          for (const { url } of files) if (url) await api.removeUpload(url);
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
        if (stage === 'event') void create(item);
        else if (stage === 'processing') watch(item);
        else turn(item, 'queued');
      }
      advance();
    },
    busy: () =>
      items.some(({ condition }) => ['queued', 'uploading', 'waiting', 'creating'].includes(condition)),
  };
}
