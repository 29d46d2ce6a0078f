import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startProxyTo } from '../../test/support/proxy.ts';
import { silentLogger } from '../telemetry/log.ts';
import { VITAL } from './limits.ts';
import { Notifications } from './notifications.ts';

test('what was notified while the connection was silent is made up for, and later notifications are heard', async () => {
  const db = await createTestDatabase();
  onTestFinished(db.close);
  const { proxy, url } = await startProxyTo(db.url);
  onTestFinished(proxy.stop);
  const heard = vi.fn();
  /** On a busy machine a connection that lives is given up as well: then something is made up for once more. */
  const heardOnceMore = async (deed: () => unknown) => {
    const before = heard.mock.calls.length;
    await deed();
    await eventually(() => expect(heard.mock.calls.length).toBeGreaterThan(before), 60_000);
  };
  const notify = () => sql`NOTIFY something`.execute(db.database);
  const limits = { ...VITAL, silenceMs: 1_000 };
  const notifications = new Notifications(url, silentLogger, { probeMs: 50, limits });
  onTestFinished(() => notifications.close());
  await heardOnceMore(() => notifications.listen('something', heard));
  await heardOnceMore(notify);
  // For good: nothing that was sent on this connection arrives any more.
  proxy.lose();
  await heardOnceMore(notify);
  await heardOnceMore(notify);
});

test('listeners share a connection, each hears its own channel, and none does that is closed', async () => {
  const db = await createTestDatabase();
  onTestFinished(db.close);
  const notifications = new Notifications(db.url, silentLogger);
  onTestFinished(() => notifications.close());
  const [first, second, late] = [vi.fn(), vi.fn(), vi.fn()];
  const listener = notifications.listen('first', first);
  notifications.listen('second', second);
  await eventually(() => expect([first.mock.calls, second.mock.calls]).toEqual([[[]], [[]]]));
  notifications.listen('first', late);
  await eventually(() => expect(late.mock.calls).toEqual([[]]));
  listener.close();
  await sql`SELECT pg_notify('first', 'one'), pg_notify('second', 'two')`.execute(db.database);
  await eventually(() =>
    expect([late.mock.calls, second.mock.calls]).toEqual([
      [[], ['one']],
      [[], ['two']],
    ]),
  );
  expect(first.mock.calls).toEqual([[]]);
  const { rows } = await sql`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'inlet listener'`.execute(db.database);
  expect(rows).toHaveLength(1);
});
