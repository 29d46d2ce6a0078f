import { expect, test } from 'vitest';
import { OpenRequests } from './open-requests.ts';

test('closing waits for the requests under way and refuses further ones', async () => {
  const requests = new OpenRequests();
  let answer: (response: Response) => void = () => undefined;
  const slow = requests.answer(
    () =>
      new Promise<Response>((resolve) => {
        answer = resolve;
      }),
  );
  let closed = false;
  const closing = requests.close().then(() => {
    closed = true;
  });
  const refused = await requests.answer(() => new Response('late'));
  expect(refused.status).toBe(503);
  expect(refused.headers.get('Connection')).toBe('close');
  expect(closed).toBe(false);
  answer(new Response('done'));
  expect(await (await slow).text()).toBe('done');
  await closing;
});

test('a request whose handler fails counts as done', async () => {
  const requests = new OpenRequests();
  const failing = requests.answer(async () => {
    throw new Error('failed');
  });
  const closing = requests.close();
  await expect(failing).rejects.toThrow('failed');
  await closing;
});

test('closing without any request ends at once', async () => {
  await new OpenRequests().close();
});
