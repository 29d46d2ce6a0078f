import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { recording } from '../../support/clips.ts';
import { field, file, form } from '../../support/form.ts';
import { OpenUpload } from '../../support/open-upload.ts';
import { exchange } from '../../support/raw-http.ts';
import { STUDIO_PAGE } from '../../support/studio-folder.ts';
import { type Suite, UPLOAD_IDLE_SECONDS } from '../suite.ts';

/** What agents need of HTTP itself. */
export const recorderRules: Suite = (product) => {
  describe('capture agents over the wire', () => {
    test('rule 10: a track takes as long as it takes while it moves', async () => {
      const { admin } = product();
      const created = await admin.fetch('/ingest/createMediaPackage');
      const { type, body } = form([
        field('mediaPackage', await created.text()),
        field('flavor', 'presenter/source'),
        file('BODY1', 'camera.mp4', await recording()),
      ]);
      const upload = new OpenUpload(admin, { type, length: body.length, path: '/ingest/addTrack' });
      const pieces = 6;
      for (let piece = 0; piece < pieces; piece += 1) {
        const at = (part: number) => Math.floor((body.length * part) / pieces);
        await upload.write(body.subarray(at(piece), at(piece + 1)));
        // Together more than may be idle, each so much less that a busy machine does not make it as much.
        await pause(UPLOAD_IDLE_SECONDS * 200);
      }
      upload.end();
      expect(await upload.answer).toMatchObject({ status: 200 });
    });

    test('rule 17: agents are answered in HTTP/1.1, and the tag of a calendar is called ETag', async () => {
      const { server, admin } = product();
      const { answer } = await exchange(
        server.url,
        `GET /recordings/calendars?agentid=hall HTTP/1.1\r\nHost: inlet\r\nConnection: close\r\nAuthorization: ${admin.authorization}\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toMatch(/\r\nETag: "[^"]+"\r\n/);
    });

    test('rule 18: a post is never led elsewhere, and who is not signed in hears 401', async () => {
      const { server, admin } = product();
      const body = new URLSearchParams({ state: 'idle' });
      for (const [path, authorization, status] of [
        ['/capture-admin/agents/hall', admin.authorization, 200],
        ['/capture-admin/agents/hall/', admin.authorization, 200],
        ['/capture-admin/agents/hall', '', 401],
        ['/ingest/ingest', '', 401],
      ] as const) {
        const answer = await fetch(new URL(path, server.url), {
          ...{ method: 'POST', redirect: 'manual', body },
          headers: authorization === '' ? {} : { Authorization: authorization },
        });
        expect([answer.status, answer.headers.get('Location')], path).toEqual([status, null]);
      }
    });

    test('Studio is served from a folder behind a link', async () => {
      const { admin } = product();
      const page = await admin.fetch('/studio/');
      expect([page.status, await page.text()]).toEqual([200, STUDIO_PAGE]);
      const settings = await admin.fetch('/studio/settings.toml');
      expect(await settings.text()).toContain('serverUrl = "/"');
    });
  });
};
