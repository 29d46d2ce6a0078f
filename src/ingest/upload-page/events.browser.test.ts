import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { details, fault, keptWith, queueWith, settle } from '../../../test/support/upload-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});
test('a link is not kept, but asked for again: at the next visit and after a while', async () => {
  const made = { eventId: 'event', stage: 'processing' as const };
  const { queue, restore, news, stored } = queueWith([keptWith({ done: true }, made)]);
  const item = await restore();
  news[0]?.({ kind: 'over', sentence: '', watch: 'https://media.example.org/watch/1?signed' });
  expect(item).toMatchObject({ condition: 'over', watch: 'https://media.example.org/watch/1?signed' });
  const again = queueWith([...stored.values()].map((text) => JSON.parse(text)));
  expect(await again.restore()).toMatchObject({ condition: 'processing', watch: undefined });
  expect(again.news).toHaveLength(1);

  queue.renewLinks();
  expect(news).toHaveLength(1);
  await settle(300_000);
  queue.renewLinks();
  expect(news).toHaveLength(2);
  expect(news[1]?.({ kind: 'goes on', sentence: 'It cannot be told.' })).toBe(true);
  expect(item.condition).toBe('over');
  news[1]?.({ kind: 'over', sentence: '', watch: 'https://media.example.org/watch/1?anew' });
  expect(item).toMatchObject({ condition: 'over', watch: 'https://media.example.org/watch/1?anew' });
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
  expect(item).toMatchObject({ condition: 'creating', note: 'It is being cancelled.' });
  await settle(1000);
  await removed;
  expect(item).toMatchObject({ condition: 'processing', recording: { eventId: 'event' } });
  expect(api.removeUpload).not.toHaveBeenCalled();
});

test('other details are for one that was refused, and for no other', async () => {
  const { queue, api, add, arrive } = queueWith();
  api.createEvent.mockRejectedValueOnce(fault(400, 'There is no series x.'));
  const item = await add();
  expect(queue.change(item, details('Early'))).toContain('has gone on');
  await arrive();
  expect(item).toMatchObject({ condition: 'failed', note: 'There is no series x.' });
  expect(queue.change(item, details('Right'))).toBeUndefined();
  await settle();
  expect(item).toMatchObject({ condition: 'processing', recording: { details: { title: 'Right' } } });
});

test('one whose upload is gone when its event is made is asked for its file', async () => {
  const { queue, api, restore } = queueWith([keptWith({ done: true, sent: 4 }, { stage: 'event' })]);
  api.createEvent.mockRejectedValueOnce(fault(404, 'There is no upload 1.'));
  api.offsetOf.mockResolvedValue(undefined);
  const item = await restore();
  expect(item).toMatchObject({ condition: 'failed', note: 'There is no upload 1.' });
  queue.resume(item);
  await settle();
  expect(item).toMatchObject({ condition: 'needs files', recording: { files: [{ sent: 0, done: false }] } });
});
