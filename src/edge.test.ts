import { expect, test, vi } from 'vitest';
import edge from './edge.ts';

test('the fetch handler answers nobody with the well-known password', async () => {
  vi.stubEnv('HOST', '127.0.0.1');
  vi.stubEnv('ADMIN_PASSWORD', '');
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const answer = await edge.fetch(new Request('http://127.0.0.1/api'));
    expect(answer.status).toBe(503);
    expect(written.mock.calls.join('')).toBe(
      'ADMIN_PASSWORD is not set; it must be while another server listens for Inlet.\n',
    );
  } finally {
    written.mockRestore();
    vi.unstubAllEnvs();
  }
});
