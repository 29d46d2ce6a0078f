import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '#platform/database/kysely.ts';
import type { TestApp } from './app.ts';
import { postTo } from './app-uploads.ts';
import { insertEvent } from './publication.ts';
import { ace, type SentAce } from './series.ts';

const LICENSE_CATALOG = `
resource: event
flavor: license/episode
title: LICENSE.TITLE
fields:
  - { id: licensor, label: LICENSE.LICENSOR, type: text, required: true }
  - { id: permits, label: LICENSE.PERMITS, type: mixed_text }
`;

/** A folder for METADATA_DIR that defines the catalog `license/episode` with `licensor` (required) and `permits`. */
export async function licenseCatalog(): Promise<{ dir: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'inlet-metadata-'));
  await writeFile(join(dir, 'license.yaml'), LICENSE_CATALOG);
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** Writes the ACL of an event without asking anybody; without entries it has none of its own. */
export async function giveAcl(
  app: Pick<TestApp, 'database'>,
  eventId: string,
  entries: readonly SentAce[],
): Promise<void> {
  await app.database.deleteFrom('event_acl').where('event_id', '=', eventId).execute();
  if (entries.length > 0) {
    const rows = entries.map((entry, position) => ({ ...entry, event_id: eventId, position }));
    await app.database.insertInto('event_acl').values(rows).execute();
  }
  const own_acl = entries.length > 0;
  await app.database.updateTable('events').set({ own_acl }).where('id', '=', eventId).execute();
}

/** An event that visitors without an account may read. */
export async function insertPublicEvent(
  database: Database,
  values?: Parameters<typeof insertEvent>[1],
): Promise<string> {
  const id = await insertEvent(database, values);
  await giveAcl({ database }, id, [ace('ROLE_ANONYMOUS')]);
  return id;
}

/** Sends a multipart form, and reads the answer. */
export async function sendForm(...form: Parameters<typeof postTo>) {
  const answer = await postTo(...form);
  return { status: answer.status, type: answer.headers.get('Content-Type'), text: await answer.text() };
}

/** Everything the database knows of an event, to see whether a request left a trace. */
export async function traceOf(app: TestApp, eventId: string): Promise<unknown> {
  const { rows } = await sql`SELECT to_jsonb(events) AS event,
      (SELECT jsonb_agg(to_jsonb(a) ORDER BY position) FROM event_acl a WHERE event_id = events.id) AS acl,
      (SELECT jsonb_agg(to_jsonb(c) ORDER BY flavor) FROM event_catalogs c WHERE event_id = events.id) AS catalogs,
      (SELECT jsonb_agg(to_jsonb(t) ORDER BY position) FROM tracks t WHERE event_id = events.id) AS tracks,
      (SELECT count(*) FROM workflows WHERE event_id = events.id) AS workflows
    FROM events WHERE id = ${eventId}`.execute(app.database);
  return rows;
}
