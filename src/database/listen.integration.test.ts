import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startProxyTo } from '../../test/support/proxy.ts';
import { silentLogger } from '../telemetry.ts';
import { VITAL } from './limits.ts';
import { listen } from './listen.ts';

test('what was notified while the connection was silent is made up for, and later notifications are heard', async () => {
  const db = await createTestDatabase();
  onTestFinished(db.close);
  const { proxy, url } = await startProxyTo(db.url);
  onTestFinished(proxy.stop);
  const heard = vi.fn();
  const notify = () => sql`NOTIFY something`.execute(db.database);
  const limits = { ...VITAL, silenceMs: 200 };
  const listener = listen(url, 'something', silentLogger, heard, { probeMs: 50, limits });
  onTestFinished(listener.close);
  await eventually(() => expect(heard).toHaveBeenCalledOnce());
  await notify();
  await eventually(() => expect(heard).toHaveBeenCalledTimes(2));
  // For good: nothing that was sent on this connection arrives any more.
  proxy.lose();
  await notify();
  await eventually(() => expect(heard).toHaveBeenCalledTimes(3));
  await notify();
  await eventually(() => expect(heard).toHaveBeenCalledTimes(4));
});
