import { expect, onTestFinished, test } from 'vitest';
import { serveApp } from '../support/serve-uploads.ts';

const WRONG = `Basic ${Buffer.from('admin:wrong').toString('base64')}`;

async function serving(environment: Record<string, string>) {
  const served = await serveApp(environment);
  onTestFinished(served.close);
  const { url } = served.admin;
  return {
    /** The status of a wrong password, as a proxy would hand it on. */
    guess: async (client: string) =>
      (await fetch(`${url}/api/info/me`, { headers: { Authorization: WRONG, 'X-Forwarded-For': client } }))
        .status,
  };
}

async function guessOften(guess: (client: string) => Promise<number>, client: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < 21; i += 1) statuses.push(await guess(client));
  return statuses;
}

test('behind a trusted proxy the wrong passwords of one client keep no other waiting', async () => {
  const { guess } = await serving({ TRUSTED_PROXIES: '127.0.0.1' });
  expect((await guessOften(guess, '203.0.113.5')).at(-1)).toBe(429);
  expect(await guess('203.0.113.6')).toBe(401);
  // What the client writes before its own address makes it nobody else.
  expect(await guess('203.0.113.77, 203.0.113.5')).toBe(429);
});

test('without a trusted proxy nobody guesses under the addresses of others', async () => {
  const { guess } = await serving({});
  expect((await guessOften(guess, '203.0.113.5')).at(-1)).toBe(429);
  expect(await guess('203.0.113.6')).toBe(429);
});
