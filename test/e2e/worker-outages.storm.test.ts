import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { startProxyTo } from '../support/proxy.ts';
import { RoleProcess } from '../support/role-process.ts';
import { processingState, startTestWorkflow } from '../support/workflows.ts';

const PATIENCE_MS = 60_000;

describe.concurrent('a worker', () => {
  // Sockets that hang up while they connect raise other errors on each runtime.
  test.for(['deno', 'node'] as const)(
    'on %s whose database hangs up while it starts works once the database is back, and ends when told to',
    async (runtime, { onTestFinished, onTestFailed }) => {
      const db = await createTestDatabase();
      onTestFinished(db.close);
      const { proxy, url } = await startProxyTo(db.url);
      onTestFinished(proxy.stop);
      const dataDir = await mkdtemp(join(tmpdir(), 'inlet-worker-'));
      onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
      const worker = new RoleProcess('worker', runtime, {
        DATA_DIR: dataDir,
        DATABASE_URL: url,
        LOG_LEVEL: 'debug',
        SHUTDOWN_SECONDS: '10',
      });
      onTestFinished(() => worker.kill());
      onTestFailed(() => console.error(worker.output.slice(-8_000)));
      worker.start();
      // Before its first connection, and after those of the launcher.
      await eventually(() => expect(worker.output).toContain('"msg":"configuration"'), PATIENCE_MS, 5);
      proxy.hangUp();
      await eventually(() => expect(worker.output).toContain('the worker is ready'), PATIENCE_MS);
      await sleep(500);
      await proxy.join();
      const { eventId } = await startTestWorkflow(db.database, ['unknown']);
      await eventually(async () => {
        expect(await processingState(db.database, eventId)).toBe('FAILED');
      }, PATIENCE_MS);
      worker.signal('SIGTERM');
      expect(await worker.ended()).toBe(0);
    },
  );
});
