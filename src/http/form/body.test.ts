import { expect, test } from 'vitest';
import { lookLate } from '../../../test/support/busy.ts';
import { BodyReader } from './body.ts';

test('what has come while the process had no time to look is not late', async () => {
  const body = new ReadableStream({
    pull: async (controller) => {
      await lookLate();
      controller.enqueue(Buffer.from('a'));
      controller.close();
    },
  });
  const request = new Request('http://inlet.test/', { method: 'POST', body, duplex: 'half' } as RequestInit);
  expect(await new BodyReader(request, 20).read()).toEqual(Buffer.from('a'));
});
