import * as tus from 'tus-js-client';
import { describe, expect, test } from 'vitest';
import { recording } from '../../support/clips.ts';
import { DocumentedClient } from '../../support/documented-client.ts';
import { eventually } from '../../support/eventually.ts';
import { eventFields, field } from '../../support/form.ts';
import { DOCUMENT } from '../../support/openapi.ts';
import { exchange, parseAnswer } from '../../support/raw-http.ts';
import { unlessBusy } from '../../support/readiness.ts';
import { SseReader } from '../../support/sse.ts';
import type { Suite } from '../suite.ts';

/** Without a parameter in the path, and with an end. */
const PLAIN = Object.entries(DOCUMENT.paths)
  .filter(([path, operations]) => !path.includes('{') && 'get' in operations && path !== '/api/updates')
  .map(([path]) => path);

/** All that the document promises, by its own examples, from one resource to the next. */
export const externalApi: Suite = (product) => {
  const client = () => new DocumentedClient((path, init) => product().admin.fetch(path, init));
  const called = async (operation: string, path: Record<string, string> = {}, without?: string) => {
    const { status, json } = await client().call(operation, { path, ...(without && { without }) });
    return { status, json: json as { identifier: string } };
  };
  const each = async (operations: readonly string[], path: Record<string, string>, expected: number) => {
    for (const operation of operations) {
      // An upload says nothing of a schedule.
      const { status } = await called(operation, path, 'scheduling');
      expect([operation, status]).toEqual([operation, expected]);
    }
  };

  describe('the API, by the examples of its document', () => {
    test.each(PLAIN)('reads %s', async (path) => {
      const { admin } = product();
      const operation = DOCUMENT.paths[path]?.get?.operationId ?? '';
      let asked = path;
      const recording = new DocumentedClient((url, init) => {
        asked = url;
        return admin.fetch(url, init);
      });
      const { status } = await unlessBusy(() => recording.call(operation, { query: false }));
      // Some lists want to know of what.
      expect([200, 204, 302, 400]).toContain(status);
      expect((await unlessBusy(() => admin.fetch(asked, { method: 'HEAD' }))).status).toBe(status);
    });

    test('creates, changes, reads and deletes an event', async () => {
      const event = { event_id: (await called('postEvents')).json.identifier };
      await product().admin.processed(event.event_id);
      const changes = ['post', 'putMetadata', 'putAcl'].map((name) => {
        const [, verb, part] = /^(post|put)(.*)$/.exec(name) ?? [];
        return `${verb}EventsEventId${part}`;
      });
      await each([...changes, 'postEventsEventIdAclAction', 'deleteEventsEventIdAclActionRole'], event, 204);
      const parts = ['', 'Acl', 'Metadata', 'Media', 'Publications'];
      await each(
        parts.map((part) => `getEventsEventId${part}`),
        event,
        200,
      );
      await each(['deleteEventsEventId'], event, 204);
      await each(['getEventsEventId'], event, 404);
    });

    test('creates, changes, reads and deletes a series', async () => {
      const series = { series_id: (await called('postSeries')).json.identifier };
      const parts = ['', 'Metadata', 'Acl', 'Properties'];
      await each(
        parts.map((part) => `putSeriesSeriesId${part}`),
        series,
        200,
      );
      await each(
        parts.map((part) => `getSeriesSeriesId${part}`),
        series,
        200,
      );
      await each(['deleteSeriesSeriesId'], series, 204);
    });

    test('starts, reads and deletes a workflow', async () => {
      const { admin } = product();
      const id = await admin.create(eventFields());
      await admin.processed(id);
      const body = new URLSearchParams({ event_identifier: id, workflow_definition_identifier: 'publish' });
      const started = await admin.fetch('/api/workflows', { method: 'POST', body });
      const text = await started.text();
      expect(started.status, text).toBe(201);
      const path = { workflow_id: String((JSON.parse(text) as { identifier: number }).identifier) };
      await eventually(async () => {
        const { state } = await admin.json<{ state: string }>(`/api/workflows/${path.workflow_id}`);
        expect(state).toBe('succeeded');
      });
      expect((await called('deleteWorkflowsWorkflowId', path)).status).toBe(204);
    });

    test('makes a webhook known, and forgets it', async () => {
      const { status, json } = await called('postWebhooks');
      expect(status).toBe(201);
      const webhook = { webhook_id: String(json.identifier) };
      await each(['getWebhooksWebhookId', 'putWebhooksWebhookId', 'getWebhooksWebhookIdDeliveries'], webhook, 200);
      await each(['deleteWebhooksWebhookId'], webhook, 204);
    });
  });

  test('an upload in pieces becomes the track of an event', async () => {
    const { admin } = product();
    const clip = Buffer.from(await recording({ seconds: 1 }));
    const url = await send(clip, {
      endpoint: `${admin.url}/uploads`,
      headers: { Authorization: admin.authorization },
      metadata: { filename: 'lecture.mp4', flavor: 'presenter/source' },
      chunkSize: Math.ceil(clip.length / 3),
    });
    const uploads = JSON.stringify([{ id: url.split('/').at(-1) }]);
    const id = await admin.create([...eventFields(), field('uploads', uploads)]);
    expect(await admin.processed(id)).toMatchObject({
      processing_state: 'SUCCEEDED',
      publication_status: ['engage-player'],
    });
  });

  test.each(['', 'Content-Length: 0\r\n'])('an upload is begun by a request without a body (%j)', async (length) => {
    const { admin } = product();
    const about = `Authorization: ${admin.authorization}\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 5\r\n`;
    const head = `POST /uploads HTTP/1.1\r\nHost: inlet\r\n${about}${length}Connection: close\r\n\r\n`;
    const { status, headers } = parseAnswer((await exchange(admin.url, head)).answer);
    expect(status).toBe(201);
    const given = { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' } };
    expect((await admin.fetch(new URL(headers.location ?? '').pathname, given)).status).toBe(204);
  });

  test('whoever has an address uploads without an account, and the event is told as it comes about', async () => {
    const { admin } = product();
    const updates = await SseReader.open((signal) => admin.fetch('/api/updates', { signal }));
    const { identifier, files } = await admin.handOut([...eventFields(), field('files', 'presenter')]);
    await send(Buffer.from(await recording({ seconds: 1 })), { endpoint: files[0]?.url ?? '' });
    const direct = await admin.json<{ state: string; event_identifier: string }>(`/api/uploads/${identifier}`);
    expect(direct.state).toBe('finished');
    const event = direct.event_identifier;
    expect((await admin.processed(event)).processing_state).toBe('SUCCEEDED');
    await eventually(() => {
      const told = updates.messages.filter(({ data }) => data.event === event).map(({ kind }) => kind);
      expect(told).toContain('publication.published');
    });
    updates.close();
  });
};

/** Sends all of it as clients of tus do. @returns where it went */
function send(content: Buffer, options: tus.UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload = new tus.Upload(content as unknown as Blob, {
      retryDelays: [],
      ...options,
      onError: reject,
      onSuccess: () => resolve(upload.url ?? ''),
    });
    upload.start();
  });
}
