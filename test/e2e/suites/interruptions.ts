import { describe, expect, test } from 'vitest';
import { bytes } from '../../support/bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, file, form } from '../../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../../support/leftovers.ts';
import { OpenUpload } from '../../support/open-upload.ts';
import { expectReadiness } from '../../support/readiness.ts';
import type { Suite } from '../suite.ts';

const UPLOADS = 20;
/** Connections to the database and to the object storage that stay open for the next request. */
const KEPT_OPEN = 12;

const uploadForm = () => form([...eventFields(), file('presenter', 'a.mp4', bytes(12 * 2 ** 20))]);

export const interruptions: Suite = (product) => {
  describe('an upload that breaks off', () => {
    test('in the middle leaves no event, no object, and no handle open', async () => {
      const { admin, server } = product();
      const events = await countEvents(server);
      const { type, body } = uploadForm();
      const before = server.api.openHandles();
      for (let i = 0; i < UPLOADS; i += 1) {
        const upload = new OpenUpload(admin, { type, length: body.length });
        await upload.write(body.subarray(0, (body.length / UPLOADS) * (i + 0.5)));
        upload.cut();
      }
      await expectNothingLeftOver(server);
      expect(await countEvents(server)).toBe(events);
      await eventually(() => expect(server.api.openHandles()).toBeLessThan(before + KEPT_OPEN));
      await expectReadiness(server, 200, {});
    });

    test('with a form cut short, but of the length that was declared, is answered with 400 at once', async () => {
      const { admin, server } = product();
      const events = await countEvents(server);
      const { type, body } = uploadForm();
      for (const end of [100, body.length / 2, body.length - 3]) {
        const answer = await admin.fetch('/api/events', {
          method: 'POST',
          headers: { 'Content-Type': type },
          body: body.subarray(0, end),
        });
        expect(answer.status).toBe(400);
        expect(await answer.text()).toMatch(/^The multipart form is broken or was cut short: /);
      }
      await expectNothingLeftOver(server);
      expect(await countEvents(server)).toBe(events);
    });
  });
};
