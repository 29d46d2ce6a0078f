import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recording } from '../../support/clips.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, file } from '../../support/form.ts';
import { expectNothingLeftOver } from '../../support/leftovers.ts';
import { processesWith } from '../../support/media.ts';
import { encodingOf } from '../../support/workflows.ts';
import type { Suite } from '../suite.ts';

export const deletion: Suite = (product) => {
  describe('DELETE', () => {
    test('removes a published event, its publication and its objects', async () => {
      const { admin, server } = product();
      const id = await admin.create([
        ...eventFields(),
        file('presenter', 'lecture.mp4', await recording({ seconds: 1 })),
      ]);
      await admin.processed(id);
      const [publication] = await admin.publications(id);
      const url = publication?.media[0]?.url ?? '';
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);

      const answer = await admin.fetch(`/api/events/${id}`, { method: 'DELETE' });
      expect(answer.status).toBe(204);
      expect(await answer.text()).toBe('');
      for (const path of [`/api/events/${id}`, `/api/events/${id}/publications`, url, publication?.url ?? '']) {
        expect((await admin.fetch(path)).status, path).toBe(404);
      }
      expect((await admin.fetch(`/api/events/${id}`, { method: 'DELETE' })).status).toBe(404);
      await expectNothingLeftOver(server);
    });

    test('removes an event in the middle of its encoding, and the encoding with it', async () => {
      const { admin, server } = product();
      const source = await recording({ seconds: 30, container: 'mpg', video: { size: '640x480' } });
      const id = await admin.create([...eventFields(), file('presenter', 'long.mpg', source)]);
      await eventually(async () => {
        expect(await encodingOf(server.database, id)).toMatchObject({ state: 'running' });
      });
      expect((await admin.fetch(`/api/events/${id}`, { method: 'DELETE' })).status).toBe(204);
      expect((await admin.fetch(`/api/events/${id}`)).status).toBe(404);
      await eventually(() => expect(processesWith(join(server.dataDir, 'work'))).toEqual([]));
      await expectNothingLeftOver(server);
    });
  });
};
