import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { storageRefused } from '#platform/storage/object-storage.ts';
import { silentLogger } from '#platform/telemetry/log.ts';
import { ownApp } from '#test/support/app.ts';
import { counts, created, post } from '#test/support/app-uploads.ts';
import { bytes } from '#test/support/bytes.ts';
import { eventually } from '#test/support/eventually.ts';
import { eventFields, file, type Part } from '#test/support/form.ts';
import { storageWith } from '#test/support/storage-with.ts';
import { FOR_AGES } from '#test/support/watched.ts';
import { IdempotencyLedger, KeyLost, sweepIdempotencyKeys } from './idempotency-ledger.ts';

/** Runs before each object is stored. */
let beforePut: () => Promise<void> = async () => undefined;
let stored = 0;
const app = await ownApp((storage) =>
  storageWith(storage, {
    put: async (...args) => {
      stored += 1;
      await beforePut();
      return storage.put(...args);
    },
  }),
);
let key: string;
beforeEach(() => {
  key = randomUUID();
  stored = 0;
});
afterEach(() => {
  beforePut = async () => undefined;
});

/** Lets keys expire: those of all requests unless one is given. */
const expire = (one?: string) =>
  app.database
    .updateTable('idempotency_keys')
    .set({ expires_at: new Date(0) })
    .$if(one !== undefined, (query) => query.where('key', '=', one ?? ''))
    .execute();

describe('the ledger', () => {
  const ANSWER = { status: 201, headers: { Location: 'http://inlet.test/1' }, body: '{"identifier":"1"}' };
  const ledgers: IdempotencyLedger[] = [];
  afterAll(() => {
    for (const each of ledgers) each.close();
  });

  /** The ledger of another process. */
  function ledger(): IdempotencyLedger {
    const { database } = app;
    const built = new IdempotencyLedger({ database, watch: { seen: FOR_AGES }, log: silentLogger });
    ledgers.push(built);
    return built;
  }

  const stateOf = async (of: IdempotencyLedger, sender = 'ada') => (await of.take(sender, key)).state;

  async function take(of: IdempotencyLedger, taken = key): Promise<string> {
    const known = await of.take('ada', taken);
    if (known.state !== 'taken') throw new Error(`The key is ${known.state}.`);
    return known.attempt;
  }
  const taking = async () => {
    const own = ledger();
    return { own, attempt: await take(own) };
  };

  const complete = (of: IdempotencyLedger, attempt: string) =>
    app.database.transaction().execute((trx) => of.complete(trx, attempt, 'fingerprint', ANSWER));

  const expiry = async () => {
    const row = app.database.selectFrom('idempotency_keys').select('expires_at').where('key', '=', key);
    return (await row.executeTakeFirstOrThrow()).expires_at;
  };

  test('gives the key to one of many requests at once in several processes', async () => {
    const processes = [ledger(), ledger(), ledger()];
    const all = Array.from({ length: 30 }, (_, i) => stateOf(processes[i % 3] as IdempotencyLedger));
    const states = await Promise.all(all);
    expect(states.toSorted()).toEqual(['taken', ...Array(29).fill('under way')]);
  });

  test('remembers an answer for a day, for its sender only', async () => {
    const { own, attempt } = await taking();
    await complete(own, attempt);
    const known = await ledger().take('ada', key);
    expect(known).toEqual({ state: 'answered', fingerprint: 'fingerprint', answer: ANSWER });
    expect(((await expiry()).getTime() - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
    expect(await stateOf(own, 'eve')).toBe('taken');
    await expire(key);
    expect(await stateOf(own)).toBe('taken');
  });

  test('frees a key that is given back, but not after the answer', async () => {
    const own = ledger();
    await own.release(await take(own));
    const attempt = await take(own);
    await complete(own, attempt);
    await own.release(attempt);
    expect(await stateOf(own)).toBe('answered');
  });

  test('forgets an answer whose transaction rolls back', async () => {
    const { own, attempt } = await taking();
    const rolledBack = app.database.transaction().execute(async (trx) => {
      await own.complete(trx, attempt, 'fingerprint', ANSWER);
      throw new Error('afterwards');
    });
    await expect(rolledBack).rejects.toThrow('afterwards');
    expect(await stateOf(own)).toBe('under way');
    await own.release(attempt);
    expect(await stateOf(own)).toBe('taken');
  });

  test('lets a request that comes while the first commits wait for the outcome', async () => {
    const { own, attempt } = await taking();
    let second: Promise<string> | undefined;
    await app.database.transaction().execute(async (trx) => {
      await own.complete(trx, attempt, 'fingerprint', ANSWER);
      second = stateOf(ledger());
      await eventually(async () => {
        const { rows } = await sql`SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(app.database);
        expect(rows).toHaveLength(1);
      });
    });
    expect(await second).toBe('answered');
  });

  test('hands over the key of a process that died, and a late return changes nothing', async () => {
    const { own: dead, attempt: lost } = await taking();
    await expire(key);
    const { own: alive, attempt } = await taking();
    await expire(key);
    await dead.renew();
    expect((await expiry()).getTime()).toBe(0);
    await alive.renew();
    await dead.release(lost);
    await expect(complete(dead, lost)).rejects.toBeInstanceOf(KeyLost);
    expect(await stateOf(dead)).toBe('under way');
    await complete(alive, attempt);
  });

  test('renews a request under way, not its answer', async () => {
    const { own, attempt } = await taking();
    await expire(key);
    await own.renew();
    expect(await stateOf(ledger())).toBe('under way');
    await complete(own, attempt);
    await expire(key);
    await own.renew();
    expect((await expiry()).getTime()).toBe(0);
  });

  test('is swept of expired keys, batch by batch, and of nothing else', async () => {
    await app.database.deleteFrom('idempotency_keys').execute();
    const own = ledger();
    for (let i = 0; i < 7; i += 1) {
      const attempt = await take(own, `key ${i}`);
      if (i % 2) await complete(own, attempt);
      if (i < 5) await expire(`key ${i}`);
    }
    expect(await sweepIdempotencyKeys(app.database, FOR_AGES, 2)).toBe(5);
    expect(await sweepIdempotencyKeys(app.database, FOR_AGES, 2)).toBe(0);
    expect((await own.take('ada', 'key 5')).state).toBe('answered');
    expect((await own.take('ada', 'key 6')).state).toBe('under way');
  });
});

describe('Idempotency-Key', () => {
  const clip = (seed = 1) => file('presenter', 'a.mp4', bytes(100_000, seed));
  const PARTS = [...eventFields(), clip()];
  const UNDER_WAY = { status: 409, text: 'A request with this Idempotency-Key is still in progress. Try again later.' };
  const OTHER_REQUEST = { status: 422, text: 'This Idempotency-Key was already used for a different request.' };

  const seen = async (answer: Response) => ({
    status: answer.status,
    text: await answer.text(),
    headers: ['Location', 'Content-Type', 'Vary'].map((name) => answer.headers.get(name)),
    replayed: answer.headers.get('Idempotent-Replayed'),
    retryAfter: answer.headers.get('Retry-After'),
  });
  const send = async (parts: readonly Part[] = PARTS, headers: Record<string, string> = {}) =>
    seen(await post(app, parts, { 'Idempotency-Key': key, ...headers }));

  test('the same upload with the same key gets the first answer again and stores nothing', async () => {
    const first = await send(PARTS, { Accept: 'application/v1.8.0+json' });
    expect(first).toMatchObject({ status: 201, replayed: null });
    const before = await counts(app);
    expect(stored).toBe(1);
    const again = await send([...PARTS].reverse(), { 'Idempotency-Key': `"${key}"` });
    expect(again).toEqual({ ...first, replayed: 'true' });
    expect(await counts(app)).toEqual(before);
    expect(stored).toBe(1);
  });

  test.each(['__proto__', 'attachment'])('a file in the part %s counts for nothing', async (field) => {
    const first = await send();
    expect(first.status).toBe(201);
    const again = await send([...PARTS, file(field, 'b.pdf', bytes(1000))]);
    expect(again).toEqual({ ...first, replayed: 'true' });
  });

  test('without a key every upload is a new event', async () => {
    expect(await created(await post(app, PARTS))).not.toBe(await created(await post(app, PARTS)));
  });

  test.each<[string, readonly Part[]]>([
    ['another title', [...eventFields({ title: 'Other' }), clip()]],
    ['another byte in its file', [...eventFields(), clip(2)]],
    ['another name of its file', [...eventFields(), file('presenter', 'b.mp4', bytes(100_000))]],
    ['its file in another field', [...eventFields(), file('audio', 'a.mp4', bytes(100_000))]],
    ['no file', eventFields()],
  ])('an upload with the same key and %s is refused, and nothing of it stays', async (_name, parts) => {
    const first = await send();
    const before = await counts(app);
    expect(await send(parts)).toMatchObject({ ...OTHER_REQUEST, replayed: null });
    expect(await counts(app)).toEqual(before);
    expect(stored).toBe(1);
    // The refused request has not become the request of the key.
    expect(await send()).toEqual({ ...first, replayed: 'true' });
  });

  test('while the first upload runs, the second is refused before its body is read', async () => {
    let second: Response | undefined;
    let pulled = 0;
    beforePut = async () => {
      const pull = () => {
        pulled += 1;
      };
      const about = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': '1000000' };
      const headers = { 'Idempotency-Key': key, ...about };
      const body = new ReadableStream({ pull }, { highWaterMark: 0 });
      const init = { method: 'POST', headers, body, duplex: 'half' };
      second = await app.request('/api/events', init as RequestInit);
    };
    const first = await send();
    expect(second?.headers.get('Connection')).toBe('close');
    expect(second && (await seen(second))).toMatchObject({ ...UNDER_WAY, retryAfter: '5' });
    expect(pulled).toBe(0);
    expect(await send()).toEqual({ ...first, replayed: 'true' });
  });

  test('a series is created once, too, and its key is none for an event', async () => {
    const titles = [`Course ${key}`, `Another ${key}`] as const;
    const create = async (title: string, path = '/api/series') => {
      const metadata = [{ flavor: 'dublincore/series', fields: [{ id: 'title', value: title }] }];
      const body = new URLSearchParams({ metadata: JSON.stringify(metadata), acl: '[]' });
      const headers = { 'Idempotency-Key': key };
      return seen(await app.request(path, { method: 'POST', headers, body }));
    };
    const first = await create(titles[0]);
    expect(first).toMatchObject({ status: 201, replayed: null });
    expect(await create(titles[0], '/api/series/')).toEqual({ ...first, replayed: 'true' });
    expect(await create(titles[1])).toMatchObject({ ...OTHER_REQUEST, replayed: null });
    expect(await send()).toMatchObject(OTHER_REQUEST);
    const series = app.database.selectFrom('series').select('title').where('title', 'in', titles);
    expect(await series.execute()).toEqual([{ title: titles[0] }]);
  });

  test('a key belongs to an account and to whom it acts as', async () => {
    await app.account('target', 'ROLE_T');
    const Authorization = await app.account('eve', 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS');
    const ways: Record<string, string>[] = [
      {},
      { Authorization },
      { 'X-RUN-AS-USER': 'target' },
      { 'X-RUN-WITH-ROLES': 'ROLE_T' },
      { 'X-RUN-WITH-ROLES': 'ROLE_U' },
    ];
    const firsts = [];
    for (const way of ways) firsts.push(await send(PARTS, way));
    expect(firsts.map(({ status, replayed }) => [status, replayed])).toEqual(ways.map(() => [201, null]));
    expect(new Set(firsts.map(({ text }) => text)).size).toBe(ways.length);
    for (const [i, way] of ways.entries()) expect(await send(PARTS, way)).toEqual({ ...firsts[i], replayed: 'true' });
  });

  test('after a refusal or a fault of the storage a request may carry the same key', async () => {
    const wrong = await send([...eventFields({ metadata: { isPartOf: 'nowhere' } }), clip()]);
    expect(wrong.status).toBe(400);
    beforePut = async () => {
      throw storageRefused(new Error('SlowDown'));
    };
    expect((await send()).status).toBe(503);
    beforePut = async () => undefined;
    expect(await send()).toMatchObject({ status: 201, replayed: null });
  });

  test('an upload that was taken for dead loses to the one that took its key over', async () => {
    const before = await counts(app);
    let second: Awaited<ReturnType<typeof send>> | undefined;
    beforePut = async () => {
      beforePut = async () => undefined;
      // The process may renew the key in between.
      second = await eventually(async () => {
        await expire();
        const sent = await send();
        expect(sent.status).toBe(201);
        return sent;
      });
    };
    expect(await send()).toMatchObject(UNDER_WAY);
    expect(second).toMatchObject({ status: 201, replayed: null });
    expect(await counts(app)).toEqual({ events: before.events + 1, staged: 0, stored: before.stored + 1 });
    expect(await send()).toEqual({ ...second, replayed: 'true' });
  });

  test('a repeated upload that breaks off is refused like any other, and the answer stays', async () => {
    const first = await send();
    const cut = await app.request('/api/events', {
      method: 'POST',
      headers: { 'Idempotency-Key': key, 'Content-Type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nContent-Disposition: form-data; name="presenter"; filename="a.mp4"\r\n\r\nbytes',
    });
    expect(cut.status).toBe(400);
    expect(await send()).toEqual({ ...first, replayed: 'true' });
  });

  test('a key that is none is refused before anything is stored', async () => {
    expect(await send(PARTS, { 'Idempotency-Key': 'one, two' })).toMatchObject({ status: 400 });
    expect(stored).toBe(0);
  });
});
