import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bytes, readAll, sha256 } from '../support/bytes.ts';
import { Client } from '../support/client.ts';
import { eventFields, file } from '../support/form.ts';
import { countEvents, expectNothingLeftOver } from '../support/leftovers.ts';
import { Resumable, rowOf } from '../support/resumable.ts';
import { showLogsOnFailure, startServer, type TestServer } from '../support/server.ts';
import { fillDisk, mountable, smallDisk } from '../support/small-disk.ts';

const MIB = 2 ** 20;

// Each runtime reports a full disk with errors of its own.
describe.skipIf(!mountable).each(['deno', 'node'] as const)('on %s, when the disk is full', (runtime) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ runtime, prepare: (folder) => smallDisk(join(folder, 'objects'), 8) });
  });
  afterAll(() => server?.stop());
  beforeEach((test) => showLogsOnFailure(test, server));

  test('an upload is answered with 507 and leaves nothing, and a smaller one finds room', async () => {
    const admin = new Client(server.url);
    const events = await countEvents(server);
    const answer = await admin.upload([...eventFields(), file('presenter', 'a.mp4', bytes(12 * MIB))]);
    expect(answer.status).toBe(507);
    expect(await answer.text()).toBe('The storage has too little free space for the recording.');
    await expectNothingLeftOver(server);
    expect(await countEvents(server)).toBe(events);
    await admin.create([...eventFields(), file('presenter', 'a.mp4', bytes(4 * MIB))]);
  });

  test('an upload in several requests is answered with 507, and goes on when there is room', async () => {
    const client = new Resumable(new Client(server.url));
    const data = bytes(3 * MIB);
    const path = await client.create(data.length);
    expect((await client.patch(path, 0, data.subarray(0, MIB))).status).toBe(204);
    const makeRoom = await fillDisk(join(server.dataDir, 'objects'));
    const answer = await client.patch(path, MIB, data.subarray(MIB));
    expect([answer.status, await answer.text()]).toEqual([
      507,
      'The storage has too little free space for the recording.',
    ]);
    expect(await client.offset(path)).toBe(MIB);
    await makeRoom();
    expect((await client.finish(path, data)).status).toBe(204);
    const { object_key } = await rowOf(server.database, path);
    expect(sha256(await readAll(await server.storage.get(object_key)))).toBe(sha256(data));
    expect((await client.fetch(path, { method: 'DELETE' })).status).toBe(204);
    await expectNothingLeftOver(server, { atOnce: true });
  });
});
