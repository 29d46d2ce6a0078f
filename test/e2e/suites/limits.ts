import { describe, expect, test } from 'vitest';
import { bytes } from '../../support/bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, field, file, form } from '../../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../../support/leftovers.ts';
import { OpenUpload } from '../../support/open-upload.ts';
import type { TestServer } from '../../support/server.ts';
import { MAX_UPLOAD_BYTES, type Suite, UPLOAD_IDLE_SECONDS } from '../suite.ts';

const MIB = 2 ** 20;
const FORM = 'multipart/form-data; boundary=x';
const TOO_LARGE = `The files of the request are longer than ${MAX_UPLOAD_BYTES} bytes together.`;

/** Runs an upload that must leave no event and no object. */
async function leavingNothing<T>(server: TestServer, upload: () => Promise<T>): Promise<T> {
  const before = await countEvents(server);
  const result = await upload();
  await expectNothingLeftOver(server);
  expect(await countEvents(server)).toBe(before);
  return result;
}

export const limits: Suite = (product) => {
  describe('limits of an upload', () => {
    test('files of just the size that is allowed are accepted', async () => {
      const { admin, server } = product();
      const id = await admin.create([...eventFields(), file('presenter', 'a.mp4', bytes(MAX_UPLOAD_BYTES))]);
      const track = server.database.selectFrom('tracks').select('size').where('event_id', '=', id);
      expect(await track.executeTakeFirst()).toEqual({ size: MAX_UPLOAD_BYTES });
      await admin.processed(id);
    });

    test('a declared length beyond it is answered before anything is sent', async () => {
      const { admin, server } = product();
      const { status, body, headers } = await leavingNothing(server, () => {
        const upload = new OpenUpload(admin, {
          type: FORM,
          length: MAX_UPLOAD_BYTES * 10,
        });
        return upload.answer.finally(() => upload.cut());
      });
      expect({ status, body }).toEqual({ status: 413, body: TOO_LARGE });
      expect(headers.connection).toContain('close');
    });

    test('a client may wait to be asked for the body', async () => {
      const { type, body } = form(eventFields());
      const upload = new OpenUpload(product().admin, { type, length: body.length, expect: '100-continue' });
      await eventually(() => expect(upload.asked).toBe(true));
      await upload.write(body);
      upload.end();
      const { status, names } = await upload.answer;
      expect(status).toBe(201);
      // Clients exist that compare names of headers letter by letter.
      expect(names).toContain('Location');
    });

    test('a client that waits is not asked for a body that is refused', async ({ skip }) => {
      const { admin, server } = product();
      // Deno's own server asks for every body before anybody has looked at the request.
      skip(server.api.role === 'edge');
      const uploads = [
        new OpenUpload(admin, { type: FORM, length: MAX_UPLOAD_BYTES * 10, expect: '100-continue' }),
        new OpenUpload(admin.as('admin', 'wrong'), { type: FORM, length: 1000, expect: '100-continue' }),
      ];
      const answers = await Promise.all(uploads.map(({ answer }) => answer));
      for (const upload of uploads) upload.cut();
      expect(answers.map(({ status }) => status)).toEqual([413, 401]);
      expect(uploads.map(({ asked }) => asked)).toEqual([false, false]);
    });

    test.each([undefined, MAX_UPLOAD_BYTES + 20 * MIB])(
      'a client that sends too much without stopping gets the answer (declared length: %s)',
      async (length) => {
        const { admin, server } = product();
        const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(MIB))]);
        const answer = await leavingNothing(server, async () => {
          const upload = new OpenUpload(admin, { type, length });
          let answered = false;
          upload.answer
            .finally(() => {
              answered = true;
            })
            .catch(() => undefined);
          // Without the last boundary, so that the file goes on.
          await upload.write(body.subarray(0, -100));
          const chunk = bytes(256 * 1024);
          const end = length ?? 4 * MAX_UPLOAD_BYTES;
          for (let sent = body.length; sent + chunk.length <= end && !answered; sent += chunk.length) {
            await upload.write(chunk);
          }
          return upload.answer.finally(() => upload.cut());
        });
        expect(answer.status).toBe(413);
        expect(answer.body).toBe(TOO_LARGE);
      },
    );

    test('a field may have 1 MiB, and no byte more', async () => {
      const { admin, server } = product();
      const accepted = await admin.upload([...eventFields(), field('note', 'x'.repeat(MIB))]);
      expect(accepted.status).toBe(201);
      const refused = await leavingNothing(server, () =>
        admin.upload([file('presenter', 'a.mp4', bytes(1000)), ...eventFields(), field('note', 'x'.repeat(MIB + 1))]),
      );
      expect(refused.status).toBe(413);
      expect(await refused.text()).toBe(`The form field 'note' is longer than ${MIB} bytes.`);
    });

    test.each([
      ['fields', 1001, 'The form has more than 1000 fields.', () => field('note', 'x')],
      ['files', 11, 'The form has more than 10 files.', () => file('presenter', 'a.mp4', bytes(100))],
    ])('too many %s are refused with 400', async (_kind, length, sentence, part) => {
      const { admin, server } = product();
      const answer = await leavingNothing(server, () =>
        admin.upload([...eventFields(), ...Array.from({ length }, part)]),
      );
      expect(answer.status).toBe(400);
      expect(await answer.text()).toBe(sentence);
    });

    test('a client that sends nothing for too long is answered with 408', async () => {
      const { admin, server } = product();
      const { type, body } = form([...eventFields(), file('presenter', 'a.mp4', bytes(MIB))]);
      const answer = await leavingNothing(server, async () => {
        const upload = new OpenUpload(admin, { type, length: body.length });
        await upload.write(body.subarray(0, body.length / 2));
        return upload.answer.finally(() => upload.cut());
      });
      expect(answer.status).toBe(408);
      expect(answer.body).toBe(`Nothing was received for ${UPLOAD_IDLE_SECONDS} seconds.`);
    });
  });
};
