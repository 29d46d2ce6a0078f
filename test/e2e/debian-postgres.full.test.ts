import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { databaseForThisFile } from '../support/database.ts';
import { type DebianPostgres, debianPostgresAvailable, startDebianPostgres } from '../support/debian-postgres.ts';
import { eventFields, field, file } from '../support/form.ts';
import { launch } from '../support/run.ts';
import { dumpSchema } from '../support/schema-dump.ts';
import { startServerFor } from '../support/server.ts';

describe.skipIf(!debianPostgresAvailable())("on Debian's PostgreSQL", () => {
  const embedded = databaseForThisFile();
  let server: DebianPostgres;
  beforeAll(async () => {
    server = await startDebianPostgres();
  });
  afterAll(() => server?.stop());

  test('npm run migrate makes the schema that the embedded server has', async () => {
    const env = { DATABASE_URL: server.url };
    expect(await launch(['migrate'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await schemaOf(server.url)).toEqual(await schemaOf(embedded.url));
    expect(await launch(['migrate'], env)).toMatchObject({ stdout: 'The database is up to date.\n' });
  });

  test('a recording is scheduled, taken, published and found', async (context) => {
    await launch(['migrate'], { DATABASE_URL: server.url });
    const { url } = await startServerFor(context, { runtime: 'deno', env: { DATABASE_URL: server.url } });
    const admin = new Client(url);
    const scheduling = { agent_id: 'hall', start: '2030-01-07T09:00:00Z', end: '2030-01-07T10:00:00Z' };
    const scheduled = [
      ...eventFields({ title: 'Straßenbau für Anfänger' }),
      field('scheduling', JSON.stringify(scheduling)),
    ];
    const id = await admin.create(scheduled);
    const refused = await admin.upload(scheduled);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject([{ title: 'Straßenbau für Anfänger' }]);

    const track = file('presenter', 'a.mpg', await recording({ container: 'mpg' }));
    const taken = await admin.post(`/api/events/${id}`, [track]);
    expect(taken.status, await taken.text()).toBe(204);
    expect((await admin.processed(id)).processing_state).toBe('SUCCEEDED');
    expect(await admin.publications(id)).toMatchObject([{ channel: 'engage-player' }]);

    for (const filter of ['textFilter:straßen ANFÄ', 'agent_id:hall', 'status:EVENTS.EVENTS.STATUS.PROCESSED']) {
      const query = new URLSearchParams({ filter, sort: 'title:ASC', withpublications: 'true' });
      expect(await admin.json(`/api/events?${query}`), filter).toMatchObject([{ identifier: id }]);
    }
  });
});

async function schemaOf(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const schema = await dumpSchema(client);
  await client.end();
  return schema;
}
