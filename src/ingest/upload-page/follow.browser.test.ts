import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Api, Fault } from './api.browser.ts';
import { createFollower, type News } from './follow.browser.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});
const fault = (status: number, message = 'Why') => Object.assign(new Error(message), { status }) as Fault;

/** What is told of an event while its state goes through these; the last one stays. */
async function newsOf(states: (string | Fault)[], api: Partial<Api> = {}, minutes = 10) {
  const news: News[] = [];
  let asked = 0;
  const processingOf = async () => {
    const state = states[Math.min(asked, states.length - 1)] ?? '';
    asked += 1;
    if (typeof state !== 'string') throw state;
    return state;
  };
  const watchAddress = async () => 'https://media.example.org/watch/1';
  const follow = createFollower({ processingOf, watchAddress, stillOurs: async () => undefined, ...api });
  follow('1', (each) => {
    news.push(each);
    return true;
  });
  await vi.advanceTimersByTimeAsync(minutes * 60_000);
  return { news, asked };
}

test('goes on until it can be watched', async () => {
  const { news, asked } = await newsOf(['', 'RUNNING', 'RUNNING', 'SUCCEEDED']);
  expect(news.map(({ kind }) => kind)).toEqual(['goes on', 'goes on', 'goes on', 'over']);
  expect(news.at(-1)).toEqual({ kind: 'over', sentence: '', watch: 'https://media.example.org/watch/1' });
  expect(asked).toBe(4);
});

test('asks less and less often while nothing happens', async () => {
  const { asked } = await newsOf(['RUNNING'], {}, 60);
  expect(asked).toBeGreaterThan(120);
  expect(asked).toBeLessThan(140);
});

test.each([
  ['FAILED', 'The processing failed.'],
  ['STOPPED', 'The processing was stopped.'],
  ['SUCCEEDED', 'nothing of it is published'],
])('tells of an event that is %s with nothing to watch', async (state, sentence) => {
  const { news } = await newsOf([state], { watchAddress: async () => undefined });
  expect(news).toEqual([{ kind: 'over', sentence: expect.stringContaining(sentence), watch: undefined }]);
});

test('goes on after what may pass', async () => {
  const { news } = await newsOf([fault(503), fault(0), 'SUCCEEDED']);
  expect(news.map(({ kind }) => kind)).toEqual(['goes on', 'goes on', 'over']);
});

test.each([
  [404, 'has been deleted'],
  [403, 'may not see'],
])('is over after %i', async (status, sentence) => {
  const { news } = await newsOf([fault(status)]);
  expect(news).toEqual([{ kind: 'over', sentence: expect.stringContaining(sentence), watch: undefined }]);
});

test.each([401, 403, 404])(
  'after %i somebody has to sign in whose events are no longer ours',
  async (status) => {
    const stillOurs = () => Promise.reject(fault(401));
    const { news, asked } = await newsOf([fault(status)], { stillOurs });
    expect(news).toEqual([{ kind: 'signed out' }]);
    expect(asked).toBe(1);
  },
);

test('asks no more when nobody wants to know', async () => {
  const processingOf = vi.fn(async () => 'RUNNING');
  const api = { processingOf, watchAddress: async () => undefined, stillOurs: async () => undefined };
  createFollower(api)('1', () => false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(processingOf).toHaveBeenCalledOnce();
});
