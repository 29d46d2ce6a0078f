import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { addToDraft, type DraftContents } from '#ingest/draft-contents.ts';
import { type AcceptedDraft, openDraft } from '#ingest/drafts.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { deliver } from './delivery.ts';
import type { Delivery } from './delivery-processing.ts';
import { type ShownWorkflow, workflowXml } from './package-xml.ts';
import { DOOR, type PackageServices, packageOf } from './packages.ts';

/**
 * Ingests a media package that came as a whole, in one transaction; what its objects have no place for is removed.
 *
 * @param contents whose catalogs can be read; an access control list has to be where a new event gets it
 * @throws {HttpError} as `deliver`
 */
export async function ingestWhole(
  c: Context,
  contents: DraftContents,
  delivery: Omit<Delivery, 'draftId'>,
  services: PackageServices,
): Promise<Response> {
  const { principal, requestId, log } = c.var;
  const { config, database, staging } = services;
  const draftId = randomUUID();
  const outcome = await explainingConflicts(database, principal, async (trx) => {
    await openDraft(trx, { id: draftId, door: DOOR, principal, lifetimeMs: config.draftExpiryMs });
    const unneeded = await addToDraft(trx, packageOf(draftId, principal), contents, staging);
    const by = { principal, requestId, log };
    const delivered = await deliver(trx, { ...delivery, draftId }, by, services);
    // Nothing may fail after the commit: who is told that it has failed believes that.
    return { unneeded, answer: await answerDelivered(c, trx, delivered, config.publicUrl) };
  });
  await staging.discard(outcome.unneeded);
  return outcome.answer;
}

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
  const event = await db.selectFrom('events').select('start_date').where('id', '=', eventId).executeTakeFirst();
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
