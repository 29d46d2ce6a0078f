import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  CAMERA,
  details,
  fault,
  keptWith,
  OTHER_ACCOUNT,
  queueWith,
  settle,
  URL_OF,
} from '#test/support/upload-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('one goes after the other, and an event is made of each', async () => {
  const { queue, api, add, arrive, polls } = queueWith();
  const [first, second] = [await add('First'), await add('Second')];
  expect([first.condition, second.condition]).toEqual(['uploading', 'queued']);
  await arrive();
  expect([first.condition, second.condition]).toEqual(['processing', 'uploading']);
  expect(api.createEvent).toHaveBeenCalledExactlyOnceWith(first.recording);
  polls[0]?.resolve('FAILED');
  await settle();
  const outcome = expect.stringContaining('Processing failed.');
  expect(first).toMatchObject({ condition: 'over', recording: { outcome } });
  queue.pause(second);
  expect(queue.isBusy()).toBe(false);
});

test('nothing is sent, made or deleted while somebody else is signed in', async () => {
  const { queue, api, add, arrive, transfers, onSignedOut } = queueWith();
  api.checkAccount.mockRejectedValueOnce(OTHER_ACCOUNT);
  const item = await add();
  expect([item.condition, transfers.length]).toEqual(['signed out', 0]);
  queue.continueSignedIn();
  await settle();
  api.checkAccount.mockRejectedValueOnce(OTHER_ACCOUNT);
  await arrive();
  expect(item.condition).toBe('signed out');
  expect(api.createEvent).not.toHaveBeenCalled();
  api.checkAccount.mockRejectedValueOnce(OTHER_ACCOUNT);
  await queue.remove(item);
  expect(api.deleteUpload).not.toHaveBeenCalled();
  expect(queue.items).toEqual([item]);
  expect(onSignedOut).toHaveBeenCalledTimes(3);
  queue.continueSignedIn();
  await settle();
  expect(item.condition).toBe('processing');
});

test('an address is forgotten when its upload is not there twice, and never for somebody else', async () => {
  const { queue, api, add, transfers } = queueWith();
  const item = await add();
  const [file] = item.recording.files;
  transfers[0]?.onUrl(URL_OF);
  transfers[0]?.onFailure(fault(404, 'There is no such upload.'));
  expect(item).toMatchObject({ condition: 'failed', note: 'There is no such upload.' });
  api.uploadOffset.mockResolvedValueOnce(3);
  queue.resume(item);
  await settle();
  expect(file).toMatchObject({ url: URL_OF, sent: 3, lost: false });
  expect(transfers).toHaveLength(2);

  transfers[1]?.onFailure(fault(404, 'There is no such upload.'));
  api.uploadOffset.mockResolvedValue(undefined);
  api.checkAccount.mockResolvedValueOnce().mockRejectedValueOnce(OTHER_ACCOUNT);
  queue.resume(item);
  await settle();
  expect([item.condition, file?.url]).toEqual(['signed out', URL_OF]);
  queue.continueSignedIn();
  await settle();
  expect([item.condition, file?.url, file?.sent]).toEqual(['uploading', undefined, 0]);
  expect(transfers).toHaveLength(3);
});

test('a fault of the question how much has arrived leaves a file as it is', async () => {
  const whole = keptWith({ sent: 4 });
  const { api, queue } = queueWith([whole]);
  api.uploadOffset.mockRejectedValue(fault(503));
  queue.restore();
  await settle();
  const [item] = queue.items;
  expect(item?.condition).toBe('needs files');
  expect(item?.recording.files).toEqual(whole.files);
});

test('after a reload it goes on with the same file, and with no other', async () => {
  const { queue, api, restore, transfers } = queueWith([keptWith({})]);
  api.uploadOffset.mockResolvedValue(2);
  const item = await restore();
  expect(item).toMatchObject({ condition: 'needs files', recording: { files: [{ sent: 2 }] } });
  const exported = new File(['FOUR'], 'camera.mp4', { lastModified: 2 });
  expect(queue.supplyFiles(item, [exported])).toContain('has changed since');
  expect(queue.supplyFiles(item, [new File(['fives'], 'camera.mp4')])).toContain('it has 5 bytes, not 4');
  expect(queue.supplyFiles(item, [new File(['four'], 'slides.mp4')])).toBe('This is not “camera.mp4”.');
  expect(transfers).toHaveLength(0);
  expect(queue.supplyFiles(item, [CAMERA])).toBeUndefined();
  await settle();
  expect([item.condition, transfers.length]).toEqual(['uploading', 1]);
});

test('what comes after a recording is gone does not bring it back', async () => {
  const { queue, api, add, arrive, stored, onSignedOut } = queueWith();
  const item = await add();
  api.createEvent.mockReturnValueOnce(new Promise((_, reject) => setTimeout(reject, 1000, fault(401))));
  await arrive();
  const removed = queue.remove(item);
  await settle(1000);
  await removed;
  expect(api.deleteUpload).toHaveBeenCalledExactlyOnceWith(URL_OF);
  queue.pause(item);
  expect(queue.changeDetails(item, details('Other'))).toContain('cancelled');
  expect([queue.items, stored.size, onSignedOut.mock.calls.length]).toEqual([[], 0, 0]);
});

test('one waits while nobody can tell whose page it is, and can be paused', async () => {
  const { queue, api, add, transfers } = queueWith();
  api.checkAccount.mockRejectedValue(fault(0, 'The server does not answer.'));
  const item = await add();
  expect(item).toMatchObject({ condition: 'waiting', note: 'The server does not answer.' });
  queue.pause(item);
  api.checkAccount.mockResolvedValue();
  await settle(60_000);
  expect([item.condition, transfers.length]).toEqual(['paused', 0]);
  queue.resume(item);
  await settle();
  expect([item.condition, transfers.length]).toEqual(['uploading', 1]);
});

test('a link to watch is not kept, but asked for again: at the next visit and after a while', async () => {
  const made = { eventId: 'event', stage: 'processing' as const };
  const { queue, api, restore, polls, stored } = queueWith([keptWith({ done: true }, made)]);
  const item = await restore();
  api.watchUrl.mockResolvedValueOnce('https://media.example.org/watch/1?signed');
  polls[0]?.resolve('SUCCEEDED');
  await settle();
  expect(item).toMatchObject({ condition: 'over', watch: 'https://media.example.org/watch/1?signed' });
  const again = queueWith([...stored.values()].map((text) => JSON.parse(text)));
  expect(await again.restore()).toMatchObject({ condition: 'processing', watch: undefined });
  expect(again.polls).toHaveLength(1);

  queue.renewLinks();
  expect(polls).toHaveLength(1);
  await settle(300_000);
  queue.renewLinks();
  expect(polls).toHaveLength(2);
  polls[1]?.reject(fault(503));
  await settle(2_000);
  expect(item.condition).toBe('over');
  api.watchUrl.mockResolvedValueOnce('https://media.example.org/watch/1?renewed');
  polls[2]?.resolve('SUCCEEDED');
  await settle();
  expect(item).toMatchObject({ condition: 'over', watch: 'https://media.example.org/watch/1?renewed' });
});

test('an event is tried again, less and less often, until it is cancelled', async () => {
  const { queue, api, add, arrive } = queueWith();
  api.createEvent.mockRejectedValue(fault(503, 'The database does not answer.'));
  const item = await add();
  await arrive();
  expect(item).toMatchObject({ condition: 'creating', note: 'The database does not answer. Trying again.' });
  await settle(600_000);
  expect(api.createEvent.mock.calls.length).toBeGreaterThan(10);
  expect(api.createEvent.mock.calls.length).toBeLessThan(16);
  const tried = api.createEvent.mock.calls.length;
  await queue.remove(item);
  await settle(600_000);
  expect(api.createEvent).toHaveBeenCalledTimes(tried);
  expect(queue.items).toEqual([]);
});

test('an event that is made while it is being cancelled stays', async () => {
  const { queue, api, add, arrive } = queueWith();
  api.createEvent.mockReturnValueOnce(new Promise((resolve) => setTimeout(resolve, 1000, 'event')));
  const item = await add();
  await arrive();
  const removed = queue.remove(item);
  await settle();
  expect(item).toMatchObject({ condition: 'creating', note: 'Cancelling.' });
  await settle(1000);
  await removed;
  expect(item).toMatchObject({ condition: 'processing', recording: { eventId: 'event' } });
  expect(api.deleteUpload).not.toHaveBeenCalled();
});

test('other details are for one that was refused, and for no other', async () => {
  const { queue, api, add, arrive } = queueWith();
  api.createEvent.mockRejectedValueOnce(fault(400, 'There is no series x.'));
  const item = await add();
  expect(queue.changeDetails(item, details('Early'))).toContain('has already continued');
  await arrive();
  expect(item).toMatchObject({ condition: 'failed', note: 'There is no series x.' });
  expect(queue.changeDetails(item, details('Right'))).toBeUndefined();
  await settle();
  expect(item).toMatchObject({ condition: 'processing', recording: { details: { title: 'Right' } } });
});

test('one whose upload is gone when its event is made is asked for its file', async () => {
  const { queue, api, restore } = queueWith([keptWith({ done: true, sent: 4 }, { stage: 'event' })]);
  api.createEvent.mockRejectedValueOnce(fault(404, 'There is no upload 1.'));
  api.uploadOffset.mockResolvedValue(undefined);
  const item = await restore();
  expect(item).toMatchObject({ condition: 'failed', note: 'There is no upload 1.' });
  queue.resume(item);
  await settle();
  expect(item).toMatchObject({ condition: 'needs files', recording: { files: [{ sent: 0, done: false }] } });
});
