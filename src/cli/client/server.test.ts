import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { get, type Server, ServerAway } from './server.ts';

const { signal } = new AbortController();

async function answering(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, authorization: '' };
}

test('a server that goes away in the middle of an answer is away', async () => {
  const server = await answering((_, answer) => {
    answer.writeHead(200, { 'Content-Length': '100' });
    answer.write('[', () => setTimeout(() => answer.destroy(), 20));
  });
  await expect(get(server, '/', signal)).rejects.toThrow(ServerAway);
});

test('so is one that is not there, and nothing but its address is told', async () => {
  const server = { url: 'http://127.0.0.1:1', authorization: 'Basic c2VjcmV0' };
  const asked = get(server, '/', signal);
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
  await expect(get(server, '/', signal)).rejects.toMatchObject({
    constructor: ServerAway,
    message: `${server.url} answers ${status}`,
    retryAfterMs,
  });
});

test.each([400, 401, 409, 500])('%i is a refusal, told by its sentence', async (status) => {
  const server = await answering((_, answer) => answer.writeHead(status).end('{"message":"It is so."}'));
  const asked = get(server, '/a', signal);
  await expect(asked).rejects.not.toThrow(ServerAway);
  await expect(asked).rejects.toThrow(`The server answered ${status} for /a: It is so.`);
});
