import type { Context } from 'hono';
import type { AcceptedDraft } from '#ingest/drafts.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { type ShownWorkflow, workflowXml } from './package-xml.ts';

const NOT_STARTED: ShownWorkflow = { id: 0, state: 'INSTANTIATED', definition: '', title: '' };

/** Answers what has become of a media package: the workflow, and the package as the event has it. */
export async function answerDelivered(
  c: Context,
  db: Queryable,
  { eventId, workflowId }: AcceptedDraft,
  publicUrl: string,
): Promise<Response> {
  const xml = workflowXml(await workflowOf(db, workflowId), await packageOfEvent(db, eventId, publicUrl));
  return c.body(xml, 200, { 'Content-Type': 'text/xml; charset=utf-8' });
}

async function workflowOf(db: Queryable, workflowId: number | undefined): Promise<ShownWorkflow> {
  const workflow = await db
    .selectFrom('workflows')
    .select(['id', 'state', 'definition', 'title'])
    .where('id', '=', workflowId ?? 0)
    .executeTakeFirst();
  return workflow ?? NOT_STARTED;
}

/** An event may have been deleted since; then its package is empty. */
async function packageOfEvent(db: Queryable, eventId: string, publicUrl: string) {
  const event = await db
    .selectFrom('events')
    .select('start_date')
    .where('id', '=', eventId)
    .executeTakeFirst();
  const base = `${publicUrl}/api/events/${encodeURIComponent(eventId)}`;
  const tracks = await db
    .selectFrom('tracks')
    .select(['id', 'flavor', 'mediatype', 'tags', 'size'])
    .where('event_id', '=', eventId)
    .orderBy('position')
    .execute();
  const attachments = await db
    .selectFrom('attachments')
    .select(['id', 'flavor', 'mediatype', 'tags', 'size'])
    .where('event_id', '=', eventId)
    .orderBy('flavor')
    .execute();
  const at = <Part extends { id: string }>(part: Part) => ({ ...part, url: `${base}/media/${part.id}` });
  return {
    id: eventId,
    start: event?.start_date ?? new Date(),
    tracks: tracks.map(at),
    attachments: attachments.map(at),
    catalogs: [],
  };
}
