import { vi } from 'vitest';
import type { Fault } from '#pages/upload/api.browser.ts';
import { createErrands } from '#pages/upload/errands.browser.ts';
import { createEvents } from '#pages/upload/events.browser.ts';
import type { News } from '#pages/upload/follow.browser.ts';
import { createLane } from '#pages/upload/lane.browser.ts';
import { createMeasure } from '#pages/upload/measure.browser.ts';
import { createMeter } from '#pages/upload/meter.browser.ts';
import { createQueue } from '#pages/upload/queue.browser.ts';
import type { Details, Field, Item, Recording } from '#pages/upload/recording.ts';
import type { TransferEvents } from '#pages/upload/transfer.browser.ts';

export const URL_OF = 'https://media.example.org/uploads/1';
export const CAMERA = new File(['four'], 'camera.mp4', { lastModified: 1 });
/** What the page's requests reject with. */
export const fault = (status: number, message = 'Why', passes = status === 0 || status >= 500) =>
  Object.assign(new Error(message), { status, passes }) as Fault;
/** What a page is told while another account is signed in. */
export const SOMEBODY_ELSE = fault(401);
export const details = (title: string) =>
  ({ title, presenters: [], audience: 'users' }) as unknown as Details;

/** Lets everything happen that is due, with timers that are the test's. */
export const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

/** A queue whose server and line are the test's. */
export function queueWith(kept: Recording[] = []) {
  const stored = new Map(kept.map((recording) => [recording.id, JSON.stringify(recording)]));
  const api = {
    stillOurs: vi.fn(async (): Promise<void> => undefined),
    createEvent: vi.fn(async (_: Recording) => 'event'),
    offsetOf: vi.fn(async (_: string): Promise<number | undefined> => 0),
    removeUpload: vi.fn(async (_: string): Promise<void> => undefined),
  };
  const transfers: TransferEvents[] = [];
  const lane = createLane((_, __, events) => {
    transfers.push(events);
    return { stop: () => undefined, nudge: () => undefined };
  }, createMeter);
  const errands = createErrands(api);
  const measure = createMeasure(api);
  const news: ((news: News) => boolean)[] = [];
  const onSignedOut = vi.fn();
  const queue = createQueue({
    api,
    errands,
    measure,
    lane,
    records: {
      all: () => [...stored.values()].map((text) => JSON.parse(text)),
      save: (recording) => void stored.set(recording.id, JSON.stringify(recording)),
      remove: (id) => void stored.delete(id),
    },
    createEvents: (on) =>
      createEvents({ api, errands, measure, on, follow: (_, tell) => void news.push(tell) }),
    onChange: () => undefined,
    onSignedOut,
  });
  const add = async (title = 'Optics', file = CAMERA) => {
    queue.add(details(title), new Map<Field, File>([['presenter', file]]));
    await settle();
    return queue.items.at(-1) as Item;
  };
  const restore = async () => {
    queue.restore();
    await settle();
    return queue.items[0] as Item;
  };
  const arrive = async (i = 0) => {
    transfers[i]?.onUrl(URL_OF);
    transfers[i]?.onDone();
    await settle();
  };
  return { queue, api, transfers, news, stored, add, restore, arrive, onSignedOut };
}
/** A recording as the browser keeps it. */
export const keptWith = (
  file: Partial<Recording['files'][number]>,
  rest: Partial<Recording> = {},
): Recording => {
  const { name, size, type, lastModified } = CAMERA;
  const known = { field: 'presenter' as const, name, size, type, lastModified };
  const recorded = { ...known, url: URL_OF, sent: 0, done: false, lost: false, ...file };
  const made = { eventId: undefined, outcome: undefined, stage: 'files' as const };
  return { id: '1', details: details('Optics'), files: [recorded], ...made, ...rest };
};
