import { vi } from 'vitest';
import { RequestError } from '#pages/upload/browser/api.js';
import type { TransferEvents } from '#pages/upload/browser/file-transfer.js';
import { RecordingTransfers } from '#pages/upload/browser/recording-transfers.js';
import { UploadQueue } from '#pages/upload/browser/upload-queue.js';
import type { Details, QueueItem, SavedRecording, TrackField } from '#pages/upload/upload-types.ts';

export const URL_OF = 'https://media.example.org/uploads/1';
export const CAMERA = new File(['four'], 'camera.mp4', { lastModified: 1 });
/** The error with which the page's requests reject. */
export const fault = (status: number, message = 'Why') => new RequestError(status, message);
/** The answer to a page while another account is signed in. */
export const OTHER_ACCOUNT = fault(401);
export const details = (title: string) => ({ title, presenters: [], audience: 'users' }) as unknown as Details;

/** Lets everything happen that is due, with timers that are the test's. */
export const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

/** A queue whose server and connection are the test's. */
export function queueWith(kept: SavedRecording[] = []) {
  const stored = new Map(kept.map((recording) => [recording.id, JSON.stringify(recording)]));
  /** The questions for the state of a processing, to be answered by the test. */
  const polls: PromiseWithResolvers<string>[] = [];
  const api = {
    checkAccount: vi.fn(async (): Promise<void> => undefined),
    createEvent: vi.fn(async (_: SavedRecording) => 'event'),
    uploadOffset: vi.fn(async (_: string): Promise<number | undefined> => 0),
    deleteUpload: vi.fn(async (_: string): Promise<void> => undefined),
    processingState: vi.fn((_: string) => {
      const poll = Promise.withResolvers<string>();
      polls.push(poll);
      return poll.promise;
    }),
    watchUrl: vi.fn(async (_: string): Promise<string | undefined> => undefined),
  };
  const started: TransferEvents[] = [];
  const transfers = new RecordingTransfers((_, __, events) => {
    started.push(events);
    return { stop: () => undefined, retryNow: () => undefined };
  });
  const onSignedOut = vi.fn();
  const queue = new UploadQueue({
    api,
    transfers,
    saved: {
      list: () => [...stored.values()].map((text) => JSON.parse(text)),
      save: (recording) => void stored.set(recording.id, JSON.stringify(recording)),
      remove: (id) => void stored.delete(id),
    },
  });
  queue.onSignedOut = onSignedOut;
  const add = async (title = 'Optics', file = CAMERA) => {
    queue.add(details(title), new Map<TrackField, File>([['presenter', file]]));
    await settle();
    return queue.items.at(-1) as QueueItem;
  };
  const restore = async () => {
    queue.restore();
    await settle();
    return queue.items[0] as QueueItem;
  };
  const arrive = async (i = 0) => {
    started[i]?.onUrl(URL_OF);
    started[i]?.onDone();
    await settle();
  };
  return { queue, api, transfers: started, polls, stored, add, restore, arrive, onSignedOut };
}
/** A recording as the browser saves it. */
export const keptWith = (
  file: Partial<SavedRecording['files'][number]>,
  rest: Partial<SavedRecording> = {},
): SavedRecording => {
  const { name, size, type, lastModified } = CAMERA;
  const known = { field: 'presenter' as const, name, size, type, lastModified };
  const recorded = { ...known, url: URL_OF, sent: 0, done: false, lost: false, ...file };
  const made = { eventId: undefined, outcome: undefined, stage: 'files' as const };
  return { id: '1', details: details('Optics'), files: [recorded], ...made, ...rest };
};
