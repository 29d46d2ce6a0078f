import { expect, test, vi } from 'vitest';
import edge from '../edge.ts';

test('the fetch handler answers nobody with the well-known password', async () => {
  vi.stubEnv('HOST', '127.0.0.1');
  vi.stubEnv('ADMIN_PASSWORD', '');
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const answer = await edge.fetch(new Request('http://127.0.0.1/api'));
  const sentence = 'ADMIN_PASSWORD is not set; it is required while another server listens for Inlet.\n';
  expect([answer.status, written.mock.calls.join('')]).toEqual([503, sentence]);
});
