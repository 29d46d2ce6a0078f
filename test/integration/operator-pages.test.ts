import { sql } from 'kysely';
import pino from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApp } from '#app/app.ts';
import { dashboardRoutes } from '#pages/operator/queue-dashboard.ts';
import { serve } from '#platform/http/server/serve.ts';
import { LANES } from '#platform/queue/work-queue.ts';
import { claimOperation } from '#processing/operation-claims.ts';
import { assignLanes, takeDeliveries } from '#processing/outbox.ts';
import { reportWorkerProcess } from '#processing/worker-processes.ts';
import { insertManyStates } from '../support/agents-page.ts';
import { ownApp } from '../support/app.ts';
import { created, post as postEvent } from '../support/app-uploads.ts';
import { bytes } from '../support/bytes.ts';
import { endpointApp } from '../support/endpoint-app.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, field, file, form } from '../support/form.ts';
import { OpenUpload } from '../support/open-upload.ts';
import { claimReady, endOperation, operatorScene, REASONS, startRecording } from '../support/operator-scene.ts';
import { patientQueue } from '../support/patient-queue.ts';
import { append, begin, uploadOf } from '../support/tus.ts';
import { AT_ONCE, operationsOf, processingState, startTestWorkflow } from '../support/workflows.ts';

const ELSEWHERE = { Origin: 'https://elsewhere.example.org' };

// The pages show and count all there is; each group begins without events.
const app = await ownApp(undefined, { WEBHOOK_HOSTS: '127.0.0.1' });
const { database } = app;
patientQueue(app);
const empty = () =>
  sql`TRUNCATE events, workflows, capture_agents, uploads, worker_processes, webhooks CASCADE`.execute(database);

const read = async (path: string) => {
  const answer = await app.request(path);
  expect(answer.status).toBe(200);
  return answer.text();
};
const post = (path: string, fields: Record<string, string>, headers = {}) =>
  app.request(path, { method: 'POST', body: new URLSearchParams(fields), headers });
const status = async (...asked: Parameters<typeof post>) => (await post(...asked)).status;
const leadsTo = ({ status, headers }: Response) => `${status} ${headers.get('Location')}: ${noticeIn(headers)}`;
const noticeIn = (headers: Headers) => {
  const [, notice = ''] =
    /^inlet_notice=([^;]*); Max-Age=60; Path=\/; HttpOnly; SameSite=Strict$/.exec(headers.get('Set-Cookie') ?? '') ??
    [];
  return decodeURIComponent(notice);
};
const told = async (answer: Response) => `${answer.status} ${await answer.text()}`;

test.each(['', '/recordings', '/uploads', '/trends', '/parts', '/webhooks', '/agents'])(
  '/admin%s is for administrators, not kept, and may be put into no frame',
  async (page) => {
    const path = `/admin${page}`;
    const Authorization = await app.account(`reader of ${page}`, 'ROLE_API', 'ROLE_ADMIN_UI');
    expect((await app.request(path, { headers: { Authorization } })).status).toBe(403);
    expect((await app.anonymous(path)).status).toBe(401);
    const answer = await app.request(path);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const policy = answer.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self' data:; /);
    expect(policy.replace(/script-src 'self'; (connect-src 'self'; )?/, '')).not.toContain('script');
    expect(policy).toMatch(/form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/);
    expect(policy).not.toContain('unsafe');
    if (page !== '') expect(await read('/admin')).toContain(`<a href="./admin${page}">`);
  },
);

describe('workers and lanes', () => {
  const parts = () => read('/admin/parts');
  const lane = (fields: Record<string, string>) => post('/admin/parts/lanes', fields);
  const facts = (name: string) => ({
    ...{ name, host: 'hall-17', pid: 42, runtime: 'Deno 2.9.6', version: '0.1.0', concurrency: 2 },
  });
  const deliver = async () => {
    await assignLanes(database, async (ready) => new Map(ready.map((each) => [each.operationId, 'light'])));
    return takeDeliveries(database, LANES);
  };

  test('without a sign of life the page says that nothing is processed; then it shows who lives, and who fell silent', async () => {
    expect(await parts()).toContain('nothing is processed');
    expect(await read('/admin')).toContain('No worker accepts work');
    await reportWorkerProcess(database, facts('worker-a'));
    expect(await read('/admin')).not.toContain('No worker accepts work');
    await reportWorkerProcess(database, facts('worker-b'));
    await sql`UPDATE worker_processes SET seen_at = now() - interval '1 minute' WHERE name = 'worker-b'`.execute(
      database,
    );
    const text = await parts();
    expect(text).toMatch(/worker-a<\/bdi><\/h3><span class="state succeeded">idle/);
    expect(text).toMatch(/worker-b<\/bdi><\/h3><span class="state failed">gone/);
    expect(text).toContain('Deno 2.9.6, Inlet 0.1.0');
  });

  test('of a lane that is paused nothing is delivered or begun, and all of it is delivered again when it goes on', async () => {
    const before = await startTestWorkflow(database);
    expect(await deliver()).toHaveLength(1);
    const paused = await lane({ lane: 'light', paused: 'true' });
    expect(leadsTo(paused)).toBe('303 ../../admin/parts: The lane light is paused.');
    const shown = /light<\/strong> <span class="state paused">paused<\/span> [\s\S]*by <bdi>admin/;
    expect(await parts()).toMatch(shown);
    const told = 'The lane light is paused by <bdi>admin</bdi>; its operations wait.';
    expect(await read('/admin')).toContain(told);
    const after = await startTestWorkflow(database);
    expect(await deliver()).toEqual([]);
    const claim = async ({ workflowId }: { workflowId: number }) => {
      const [operation] = await operationsOf(database, workflowId);
      return claimOperation(database, operation?.id ?? 0, 'worker-a', AT_ONCE);
    };
    expect(await claim(before)).toBeUndefined();
    await lane({ lane: 'light', paused: 'false' });
    expect(await deliver()).toHaveLength(2);
    for (const workflow of [before, after]) expect(await claim(workflow)).toBeDefined();
  });

  test('a process hears with its next sign of life what lanes are set to, and whether it is to drain', async () => {
    const drain = (draining: string) => status('/admin/parts/workers', { worker: 'worker-c', draining });
    const hears = () => reportWorkerProcess(database, facts('worker-c'));
    expect(await hears()).toEqual({ draining: false, concurrency: {} });
    await lane({ lane: 'heavy', concurrency: '5' });
    expect(await drain('true')).toBe(303);
    expect(await hears()).toEqual({ draining: true, concurrency: { heavy: 5 } });
    expect(await parts()).toMatch(/worker-c<\/bdi><\/h3><span class="state paused">drained/);
    await lane({ lane: 'heavy', concurrency: '' });
    expect(await drain('false')).toBe(303);
    expect(await hears()).toEqual({ draining: false, concurrency: {} });
  });

  test('what is no lane, no number or no worker is refused', async () => {
    expect((await lane({ lane: 'fast' })).status).toBe(400);
    for (const concurrency of ['0', '257', '-1', 'many'])
      expect((await lane({ lane: 'heavy', concurrency })).status).toBe(400);
    expect(await status('/admin/parts/workers', { worker: 'nobody', draining: 'true' })).toBe(404);
  });

  test('a queue that was paused itself, past the lanes, is named where its work waits', async () => {
    const [light] = app.context.queue.queues();
    const sentence = 'The queue of the lane light is paused';
    await light?.pause();
    try {
      // A page waits three seconds for the queue.
      for (const path of ['/admin', '/admin/parts'])
        await eventually(async () => expect(await read(path)).toContain(sentence));
    } finally {
      await light?.resume();
    }
    expect(await read('/admin')).not.toContain(sentence);
  });
});

describe('the dashboard of the queues', () => {
  const QUEUES = '/admin/queues/api/queues';
  const SECRET = 'connect to 10.0.0.1 with secret';
  const SENTENCE = 'text/plain; charset=utf-8';
  const AWAY = [503, SENTENCE, 'The queue does not answer.'];
  let lines: string[] = [];
  beforeEach(() => {
    lines = [];
  });
  const log = pino({}, { write: (line) => void lines.push(line) });
  const dashboard = endpointApp([], {}, { log, mounted: [dashboardRoutes(app.context.queue)] });
  const ask = async (path: string) => {
    const answer = await dashboard.request(path);
    return [answer.status, answer.headers.get('Content-Type'), await answer.text()];
  };
  /** Lets the first queue fail with what a backend may say. */
  const fail = (error: Error) => {
    const [queue] = app.context.queue.queues();
    if (queue) vi.spyOn(queue, 'getJobCounts').mockRejectedValue(error);
  };

  test('shows the queues, and names no other host', async () => {
    expect(await ask(QUEUES)).toEqual([200, 'application/json', expect.stringContaining('"name":"light"')]);
    const text = await read('/admin/queues/');
    expect(text).toContain('<div id="root"');
    expect(text).not.toMatch(/(href|src)="(https?:)?\/\//);
  });

  test('has the sentence of every unknown address for its own', async () => {
    expect(await ask('/admin/queues/nothing/here')).toEqual(await ask('/nothing/here'));
  });

  test('refuses a name of a queue that cannot be read', async () => {
    const fault = 'The address is not percent-encoded UTF-8.';
    expect(await ask(`${QUEUES}?activeQueue=%25`)).toEqual([400, SENTENCE, fault]);
  });

  test.each(['production', 'development'])('says in the log alone what went wrong (%s)', async (mode) => {
    vi.stubEnv('NODE_ENV', mode);
    fail(new Error(SECRET));
    expect(await ask(QUEUES)).toEqual([
      ...[500, SENTENCE],
      expect.stringMatching(/^Internal server error; the log has the details under request id \S+\.$/),
    ]);
    const [logged] = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
    expect([logged?.path, logged?.err.message]).toEqual([QUEUES, SECRET]);
  });

  test('is 503 when the queue went away meanwhile', async () => {
    fail(Object.assign(new Error(SECRET), { code: 'ECONNRESET' }));
    expect(await ask(QUEUES)).toEqual(AWAY);
    fail(new Error(SECRET));
    vi.spyOn(app.context.queue, 'check').mockResolvedValueOnce().mockRejectedValue(new Error(SECRET));
    expect(await ask(QUEUES)).toEqual(AWAY);
  });
});

describe('while the queue is away', async () => {
  const other = await ownApp(undefined, { REDIS_URL: 'redis://127.0.0.1:1' });

  test('the page says so, and those of the queue itself load anew', async () => {
    const sentence = 'The queue does not answer. New operations wait until it does.';
    expect(await told(await other.request('/admin'))).toContain(sentence);
    const queues = await other.request('/admin/queues/', { headers: { Accept: 'text/html' } });
    expect([queues.status, queues.headers.get('Refresh')]).toEqual([503, '15']);
    expect((await other.request('/admin/queues/')).headers.get('Refresh')).toBeNull();
  });
});

describe('uploads', () => {
  const PATH = '/admin/uploads';
  beforeAll(empty);
  afterEach(() => database.deleteFrom('uploads').execute());

  /** Rows as they would be after many uploads. */
  const insert = (number: number, values: Record<string, unknown> = {}) =>
    database
      .insertInto('uploads')
      .values(
        Array.from({ length: number }, (_, i) => ({
          ...{ id: `upload-of-many-${String(i).padStart(6, '0')}`, filename: `lecture ${i}.mp4` },
          ...{ owner: 'ada', length: 2 ** 30, stored: 2 ** 20, object_key: `track/none-${i}`, handle: '' },
          changed_at: new Date(Date.now() - i * 60_000),
          expires_at: new Date(Date.now() + 3_600_000),
          ...values,
        })),
      )
      .execute();

  test('within a request stand with whose they are and how far, on the first page too, until an event has them', async () => {
    const server = await serve(createApp(app.context).fetch, { host: '127.0.0.1', port: 0 });
    try {
      const authorization = await app.account('bare', 'ROLE_ADMIN');
      const { type, body } = form([...eventFields(), file('presenter', 'hall <7>.mp4', bytes(3 * 2 ** 20))]);
      const client = { url: `http://127.0.0.1:${server.port}`, authorization };
      const upload = new OpenUpload(client, { type, length: body.length });
      void upload.write(body.subarray(0, 2 ** 20 + 2 ** 19));
      await eventually(async () => {
        await app.context.staging.renew();
        const [all, now] = await Promise.all([read(PATH), read('/admin')]);
        expect(all).toContain('In one request (1)');
        expect(all).toMatch(
          /<bdi>hall &lt;7&gt;\.mp4<\/bdi><\/td><td><bdi>bare<\/bdi>.*1\.\d MiB of at most 3\.0 MiB/s,
        );
        expect(now).toContain('Uploads (1)');
        expect(now).toMatch(/<bdi>hall &lt;7&gt;\.mp4<\/bdi><\/div><div>1\.\d MiB of at most 3\.0 MiB/);
      });
      void upload.write(body.subarray(2 ** 20 + 2 ** 19));
      expect((await upload.answer).status).toBe(201);
      expect(await read('/admin')).toContain('Uploads (0)');
      expect(await read(PATH)).toContain('No uploads in progress.');
    } finally {
      server.destroy();
    }
  });

  test('are none that wait at first, nor when they have expired', async () => {
    const none = 'No unfinished or unused uploads.';
    expect(await read(PATH)).toContain(none);
    await insert(1, { expires_at: new Date(0) });
    expect(await read(PATH)).toContain(none);
  });

  test('that wait stand with whose they are, since when and how much there is of each', async () => {
    const Authorization = await app.account('grace', 'ROLE_API_EVENTS_CREATE');
    const metadata = { filename: 'camera ü.mp4' };
    await uploadOf(app, bytes(2048), { metadata, headers: { Authorization }, until: 1536 });
    const shown = await read(PATH);
    for (const piece of [
      '1 upload unfinished or not yet part of an event, 1.5 KiB stored.',
      '<bdi>camera ü.mp4</bdi></td><td><bdi>grace</bdi>',
      '<progress value="1536" max="2048" aria-label="75 percent"></progress>1.5 KiB of 2.0 KiB',
    ])
      expect(shown).toContain(piece);
    const row = await database.selectFrom('uploads').selectAll().executeTakeFirstOrThrow();
    for (const date of [row.created_at, row.changed_at, row.expires_at])
      expect(shown).toContain(`<time datetime="${date.toISOString()}">`);
    // Reading the page over a shoulder gives nobody the upload.
    expect(shown).not.toContain(row.id);
  });

  test('may have no length yet, or be whole and of no event yet', async () => {
    const id = await begin(app, undefined, { headers: { 'Upload-Defer-Length': '1' } });
    await append(app, id, 0, bytes(100));
    const whole = await uploadOf(app, bytes(1024));
    const shown = await read(PATH);
    for (const piece of ['2 uploads unfinished', '100 bytes of unknown size', '1.0 KiB, complete'])
      expect(shown).toContain(piece);
    const uploads = field('uploads', JSON.stringify([{ id: whole, field: 'presenter' }]));
    await created(await postEvent(app, [...eventFields(), uploads]));
    expect(await read(PATH)).not.toContain('KiB, complete');
  });

  test('are the last ones of many, and all of them are counted', async () => {
    await insert(1000);
    const shown = await read(PATH);
    expect(shown).toContain('1000 uploads unfinished');
    expect(shown).toContain('1000.0 MiB stored. The 200 last changed are shown.');
    expect(shown.match(/<bdi>lecture \d+\.mp4<\/bdi>/g)).toHaveLength(200);
    expect(shown.indexOf('lecture 0.mp4')).toBeLessThan(shown.indexOf('lecture 199.mp4'));
    expect(shown).not.toContain('lecture 200.mp4');
  });

  test('have their names as they are, whatever is in them', async () => {
    const filename = `<img src=x onerror="alert(1)"><script>alert(2)</script>'"&amp;.mp4`;
    await insert(1, { filename, owner: '</bdi><script>alert(3)</script>' });
    const shown = await read(PATH);
    expect(shown).not.toMatch(/<(script|img src=x)/);
    expect(shown).toContain('&lt;script&gt;alert(3)&lt;/script&gt;');
    await database.deleteFrom('uploads').execute();
    await begin(app, 5, { metadata: { filename } });
    expect(await read(PATH)).toContain('<bdi>script&gt;&#39;&quot;&amp;amp;.mp4</bdi>');
  });
});

describe('webhooks', () => {
  const PATH = '/admin/webhooks';

  test('the page adds a webhook and shows its secret once, pauses, resumes and deletes it', async () => {
    const added = await post(PATH, { url: 'http://127.0.0.1:9/<b>', filter: 'kind:event' });
    expect(added.status).toBe(200);
    const secret = /whsec_[A-Za-z0-9+/=]+/.exec(await added.text())?.[0] ?? '';
    const webhook = await database.selectFrom('webhooks').select(['id', 'secret']).executeTakeFirstOrThrow();
    expect(webhook.secret).toBe(secret);
    expect(await read(PATH)).toContain('http://127.0.0.1:9/%3Cb%3E');
    expect(await read(PATH)).not.toContain(secret);
    const act = (action: string, headers = {}) => status(`${PATH}/${webhook.id}`, { action }, headers);
    expect(await act('pause')).toBe(303);
    expect(await read(PATH)).toContain('Paused.');
    expect(await act('resume')).toBe(303);
    expect(await read(PATH)).not.toContain('Paused.');
    expect(await act('paint')).toBe(400);
    expect(await act('delete', ELSEWHERE)).toBe(403);
    expect(await act('delete')).toBe(303);
    expect(await act('delete')).toBe(404);
  });

  test('a message that was given up is shown with its reason, and sent again with a button', async () => {
    const { id } = await database
      .insertInto('webhooks')
      .values({ url: 'http://127.0.0.1:9/', secret: 'whsec_x', since: 0 })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { id: delivery } = await database
      .insertInto('webhook_deliveries')
      .values({
        ...{ webhook_id: id, message_id: 'msg_1', kind: 'event.deleted', body: '{}', order_key: 'event x' },
        ...{ state: 'parked', attempts: 31, last_error: 'There was no answer within 15 seconds.' },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    expect(await read(PATH)).toMatch(/event\.deleted[\s\S]*There was no answer within 15 seconds\.[\s\S]*31 attempts/);
    const again = { action: 'send-again', delivery: String(delivery) };
    expect(await status(`${PATH}/${id}`, again)).toBe(303);
    const sent = database.selectFrom('webhook_deliveries').select('state').where('id', '=', delivery);
    expect(await sent.executeTakeFirstOrThrow()).toEqual({ state: 'pending' });
  });
});

describe("the operator's page", () => {
  let scene: Awaited<ReturnType<typeof operatorScene>>;
  beforeAll(async () => {
    await empty();
    await insertManyStates(database);
    scene = await operatorScene(database);
  });

  test('says without a click what has failed, why, and how often for each reason', async () => {
    const text = await read('/admin');
    for (const [reason, count] of REASONS) {
      expect(text).toContain(`<h3 class="alarm">${reason}</h3>`);
      if (count > 1) expect(text).toContain(`${count} recordings`);
    }
    expect(text.indexOf(REASONS[2][0])).toBeLessThan(text.indexOf(REASONS[0][0]));
    expect(text).toContain('moov atom not found');
    expect(text).toContain('1 track, 2.2 GiB · 1:30:00');
  });

  test('tells what runs and how far, what waits, what waits for somebody, and how the halls are', async () => {
    const text = await read('/admin');
    expect(text).toMatch(/Running \(1\)[\s\S]*Analysis I, lecture 12[\s\S]*encode[\s\S]*value="0.37"/);
    expect(text).toMatch(/Queued \(4\)[\s\S]*Waiting lecture 1[\s\S]*Needs attention \(1\)[\s\S]*under review/);
    expect(text).toMatch(/Agents \(10, <span class="alarm">\d+ need attention/);
  });

  test('a button tries one recording again, and another all of a reason', async () => {
    const [first] = scene.failed;
    const one = await post(`/admin/recordings/${first?.eventId}/workflow`, {
      ...{ workflow: String(first?.workflowId), state: 'retry', back: 'now' },
    });
    expect(leadsTo(one)).toBe('303 ../../../admin: The workflow is retried.');
    const text = await read('/admin');
    const key = /name="reason" value="([^"]*breaks off[^"]*)"/.exec(text)?.[1] ?? '';
    const all = await post('/admin/failed/retry', { reason: key });
    expect(leadsTo(all)).toBe('303 ../../admin: 3 recordings are retried.');
    const states = await Promise.all(scene.failed.map(({ eventId }) => processingState(database, eventId)));
    expect(states).toEqual([...Array(4).fill('RUNNING'), ...Array(3).fill('FAILED')]);
    expect(await read('/admin')).not.toContain('breaks off');
  });

  test('of many that failed for one reason all are shown where they are asked for', async () => {
    const ids = await Promise.all(
      Array.from({ length: 7 }, async (_, i) => {
        const { workflowId } = await startRecording(database, `One of many ${i}`);
        await endOperation(database, await claimReady(database, workflowId), 'Much is wrong.');
        return workflowId;
      }),
    );
    const shown = async (path: string) => {
      const text = await read(path);
      return ids.filter((id) => text.includes(`id="failed-${id}"`)).length;
    };
    expect(await shown('/admin')).toBe(5);
    const link = /href="([^"]*)"[^>]*>Show 2 more/.exec(await read('/admin'))?.[1] ?? '';
    const { pathname, search } = new URL(link, 'http://x/admin');
    expect(await shown(pathname + search)).toBe(7);
    await post('/admin/failed/retry', { reason: 'Much is wrong.' });
  });

  test('a button of one recording does nothing to a workflow of another', async () => {
    const { workflowId } = await startRecording(database, 'Not this one');
    const fields = { workflow: String(workflowId), state: 'stopped' };
    const answer = await post(`/admin/recordings/${scene.failed[0]?.eventId}/workflow`, fields);
    expect(await told(answer)).toBe(`404 Cannot find workflow instance with id '${workflowId}'.`);
    const body = new URLSearchParams({ state: 'stopped' });
    await app.request(`/api/workflows/${workflowId}`, { method: 'PUT', body });
  });

  test('what a state does not allow, and what nobody knows, is refused in a sentence', async () => {
    const { eventId, workflowId } = scene.running;
    const wish = (fields: Record<string, string>) => post(`/admin/recordings/${eventId}/workflow`, fields);
    const refused = await wish({ workflow: String(workflowId), state: 'retry' });
    expect(await told(refused)).toBe('409 The workflow cannot move from RUNNING to RUNNING.');
    expect((await wish({ workflow: '0', state: 'retry' })).status).toBe(400);
    expect((await wish({ workflow: '999999999', state: 'retry' })).status).toBe(404);
    const busy = await post(`/admin/recordings/${eventId}/start`, { definition: 'publish' });
    expect(busy.status).toBe(409);
  });

  test('a recording is found by its title, its identifier and the request that started it', async () => {
    const { eventId } = scene.paused;
    for (const search of ['lecture review', eventId, 'request-Lecture-under-review']) {
      const text = await read(`/admin/recordings?q=${encodeURIComponent(search)}`);
      expect(text).toContain(`admin/recordings/${eventId}`);
    }
    expect(await read('/admin/recordings?q=nothing+of+that+kind')).toContain('No recording, and no request');
    expect((await app.request('/admin/recordings?q=%00')).status).toBe(400);
  });

  test('a recording tells its whole story, also when it has been deleted', async () => {
    const { eventId } = scene.paused;
    const text = await read(`/admin/recordings/${eventId}`);
    expect(text).toContain('Lecture under review');
    expect(text).toMatch(/“schedule-and-upload” started[\s\S]*by <bdi>ada<\/bdi>/);
    expect(text.match(/class="succeeded" x=/g)).toHaveLength(6);
    expect(text).toContain('h264 1920×1080 25 fps');
    const gone = await post(`/admin/recordings/${eventId}/delete`, {});
    expect(leadsTo(gone)).toBe('303 ../../../admin: The recording has been deleted.');
    const after = await read(`/admin/recordings/${eventId}`);
    expect(after).toContain('The recording has been deleted.');
    expect(after).toMatch(/Deleted <span class="faint">by <bdi>admin/);
    expect(await read(`/admin/recordings?q=${eventId}`)).toContain('Lecture under review');
    expect((await app.request('/admin/recordings/nobody')).status).toBe(404);
  });
});
