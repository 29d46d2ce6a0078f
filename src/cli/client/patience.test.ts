import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CommandError } from '../failure.ts';
import { patiently } from './patience.ts';
import { ServerAway } from './server.ts';

const { signal } = new AbortController();
/** Fails with these errors, one after the other, then answers. */
function failing(...errors: Error[]): () => Promise<string> {
  return async () => {
    const error = errors.shift();
    if (error) throw error;
    return 'answered';
  };
}

test('a server that is away is asked again, and left alone for as long as it says', async () => {
  const told: string[] = [];
  const onAway = ({ message }: ServerAway) => void told.push(message);
  const begun = performance.now();
  const ask = failing(new ServerAway('gone'), new ServerAway('busy', 200));
  expect(await patiently(ask, { signal, onAway, pauseMs: 1 })).toBe('answered');
  expect(told).toEqual(['gone', 'busy']);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
});

test('not for ever, however long it wants to be left alone', async () => {
  const away = new ServerAway('busy', 3_600_000);
  const ask = () => Promise.reject(away);
  await expect(patiently(ask, { signal, patienceMs: 50 })).rejects.toBe(away);
});

test('a refusal is none of that', async () => {
  const refusal = new CommandError('The server answered 400.');
  await expect(patiently(failing(refusal), { signal })).rejects.toBe(refusal);
});

test('an interrupt ends the wait at once', async () => {
  const interrupt = new AbortController();
  const asked = patiently(failing(new ServerAway('gone')), { signal: interrupt.signal, pauseMs: 60_000 });
  await sleep(10);
  interrupt.abort();
  await expect(asked).rejects.toThrow('aborted');
});
