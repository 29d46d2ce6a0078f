import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { lookLate } from '../../test/support/busy.ts';
import { webStream } from './web-stream.ts';

test('what has come while the process had no time to look is not late', async () => {
  async function* late() {
    await lookLate();
    yield Buffer.from('a');
  }
  expect(await text(webStream(Readable.from(late()), { idleMs: 20 }))).toBe('a');
});
