import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '#test/support/listen.ts';
import { CommandError, explain } from '../failure.ts';
import { sendRecording, trackOf } from './send.ts';
import { ask, retryWhileAway, type Server, ServerAway } from './server.ts';

const { signal } = new AbortController();
async function answering(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: await listen(server), authorization: '' };
}

test('a server that goes away in the middle of an answer is away', async () => {
  const server = await answering((_, answer) => {
    answer.writeHead(200, { 'Content-Length': '100' });
    answer.write('[', () => answer.destroy());
  });
  await expect(ask(server, '/', { signal })).rejects.toThrow(ServerAway);
});

test('so is one that is not there, and nothing but its address is told', async () => {
  const server = { url: 'http://127.0.0.1:1', authorization: 'Basic c2VjcmV0' };
  const asked = ask(server, '/', { signal });
  await expect(asked).rejects.toThrow(ServerAway);
  await expect(asked).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1 does not answer: [^{]+$/);
});

test.each([
  [502, {}, 0],
  [503, { 'Retry-After': '30' }, 30_000],
  [504, { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 0],
  [429, { 'Retry-After': '2' }, 2_000],
  [409, { 'Retry-After': '5' }, 5_000],
])('%i with %j may be asked again', async (status, headers, retryAfterMs) => {
  const server = await answering((_, answer) => answer.writeHead(status, headers).end('<html>'));
  await expect(ask(server, '/', { signal })).rejects.toMatchObject({
    constructor: ServerAway,
    message: `${server.url} answers ${status}`,
    retryAfterMs,
  });
});

test.each([400, 401, 409, 500])('%i is a refusal, told by its sentence', async (status) => {
  const server = await answering((_, answer) => answer.writeHead(status).end('{"message":"It is so."}'));
  const asked = ask(server, '/a', { signal });
  await expect(asked).rejects.not.toThrow(ServerAway);
  await expect(asked).rejects.toThrow(`The server answered ${status} for /a: It is so.`);
});

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
  const request = failing(new ServerAway('gone'), new ServerAway('busy', 200));
  expect(await retryWhileAway(request, { signal, onAway, pauseMs: 1 })).toBe('answered');
  expect(told).toEqual(['gone', 'busy']);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
});

test('a server that stays away is asked for a limited time, and one that refuses is asked once', async () => {
  const away = new ServerAway('busy', 3_600_000);
  await expect(retryWhileAway(() => Promise.reject(away), { signal, patienceMs: 50 })).rejects.toBe(away);
  const refusal = new CommandError('The server answered 400.');
  await expect(retryWhileAway(failing(refusal), { signal })).rejects.toBe(refusal);
});

test('an interrupt ends the wait at once', async () => {
  const interrupt = new AbortController();
  const asked = retryWhileAway(failing(new ServerAway('gone')), {
    ...{ signal: interrupt.signal, pauseMs: 60_000 },
    onAway: () => setTimeout(() => interrupt.abort()),
  });
  await expect(asked).rejects.toThrow('aborted');
});

/** What is told of the causes of an error. */
const causes = (error: unknown) =>
  explain(error)
    .split('\n')
    .filter((line) => line.startsWith('Caused by'));

test('a fault is told with its stack and with what caused it', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { secret: 's3cret' });
  const refused = new Error('The object could not be stored.', { cause: full });
  const told = explain(refused);
  expect(told).toContain(refused.stack);
  expect(causes(refused)).toEqual(['Caused by: ENOSPC: no space left on device, write']);
  expect(told).not.toContain('s3cret');
});

const SEVERAL = new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('other')]);
test.each([
  ['the first of several errors', SEVERAL, ['Caused by: connect ECONNREFUSED ::1:5432']],
  ['a cause at any depth', new TypeError('x', { cause: SEVERAL }), ['Caused by: connect ECONNREFUSED ::1:5432']],
  ['a cause that is a text', new Error('x', { cause: 'a text' }), ['Caused by: a text']],
  ['no cause that is an object', new Error('x', { cause: { password: 's3cret' } }), []],
])('causes reports %s', (_, error, told) => expect(causes(error)).toEqual(told));

test('causes that go round come to an end', () => {
  const error = new Error('round');
  error.cause = error;
  expect(causes(error).length).toBeLessThan(10);
});

test('what was expected is its sentence alone', () => {
  const expected = new CommandError('There is no file a.', { cause: new Error('ENOENT') });
  expect(explain(expected)).toBe('There is no file a.');
});

/** A server without resumable uploads that knows one account. @returns it, and the requests that it got */
async function withoutTus(status: number): Promise<{ server: Server; requests: string[] }> {
  const requests: string[] = [];
  const server = await answering((request, answer) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    const known = request.headers.authorization === 'Basic right';
    if (request.url === '/uploads') answer.writeHead(status).end();
    else if (!known) answer.writeHead(401).end('Who are you?');
    else request.on('end', () => answer.writeHead(201).end('{"identifier":"e1"}'));
  });
  return { server, requests };
}

const TITLED = { title: 'Rings', workflow: 'fast', read: [] };
const sending = { signal, screen: process.stderr, label: 'Upload' };
const files = async () => [await trackOf('', import.meta.filename)];

test('a server without resumable uploads gets everything in one request', async () => {
  const { server, requests } = await withoutTus(404);
  const sent = sendRecording({ ...server, authorization: 'Basic right' }, TITLED, await files(), sending);
  expect(await sent).toBe('e1');
  expect(requests.at(-1)).toBe('POST /api/events');
});

test('a wrong password is found out before anything is sent', async () => {
  const { server, requests } = await withoutTus(401);
  await expect(sendRecording(server, TITLED, await files(), sending)).rejects.toThrow('The server answered 401');
  expect(requests).toEqual(['OPTIONS /uploads', 'GET /api/info/me']);
});
