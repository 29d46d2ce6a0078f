import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { sql } from 'kysely';
import type { Principal } from '#access/principal.ts';
import { withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { isMedia, type NewTrack } from '#catalogue/events/event-files.ts';
import { accept } from '#ingest/accept.ts';
import { addToDraft, type DraftContents, discardContents, readContents } from '#ingest/draft-contents.ts';
import { type AcceptedDraft, lockDraft, openDraft } from '#ingest/drafts.ts';
import type { Intake } from '#ingest/intake.ts';
import type { Queryable, Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { xmlResponse } from '../text-answers.ts';
import {
  type Delivery,
  documentsOf,
  editsOf,
  furtherEventOf,
  newEventOf,
  processingFor,
  type Submitter,
} from './event-of-package.ts';
import { type ShownWorkflow, workflowXml } from './package-xml.ts';
import { type PackageServices, packageOf } from './packages.ts';
import { broughtBy, DELIVERY_FORBIDDEN, EVENT_BEING_PROCESSED, type Recipient, recipientOf } from './recipient.ts';

export const NO_MEDIA = refusal(400, 'The media package has no track with audio or video. Nothing was ingested.');

type Services = Pick<PackageServices, 'catalogs' | 'definitions' | 'staging'>;

/**
 * Ingests a media package as a new event or as the recording of an existing one, and starts its processing, in one
 * transaction. If the event has a recording, the package becomes another event, unless it has the same files. A
 * repeated request gets the same answer.
 * @throws {HttpError} 400 for a package without media, 403 for an event that is not the caller's, 404, 409
 */
export async function deliver(
  trx: Transaction,
  delivery: Delivery,
  by: Submitter,
  services: Services,
): Promise<AcceptedDraft> {
  const { principal, log } = by;
  const draft = packageOf(delivery.draftId, principal);
  const { accepted } = await lockDraft(trx, draft);
  if (accepted) return accepted;
  const contents = await readContents(trx, draft.id);
  if (!contents.tracks.some(isMedia)) throw NO_MEDIA();
  const recipient = await recipientOf(trx, delivery, principal);
  const known =
    recipient && recipient.kind !== 'awaiting' && (await findSameRecording(trx, recipient, contents.tracks, principal));
  if (known) {
    await discardContents(trx, draft, known);
    log.info({ eventId: known.eventId, package: draft.id }, 'the same recording was delivered again');
    return known;
  }
  if (recipient?.kind === 'closed') throw DELIVERY_FORBIDDEN(recipient.id);
  if (recipient?.busy) throw EVENT_BEING_PROCESSED(recipient.id);
  const part = recipient && recipient.kind !== 'awaiting' ? await nextPartNumber(trx, recipient) : undefined;
  const intake = await intakeOf(trx, delivery, contents, { recipient, part }, by, services);
  const { ids, workflowId } = await accept(trx, intake, services);
  const eventId = ids[0] ?? delivery.packageId;
  if (recipient && part !== undefined) {
    const further = { event_id: eventId, of_event: recipient.id, part };
    await trx.insertInto('further_recordings').values(further).execute();
  }
  if (recipient?.kind === 'foreign') {
    log.warn(
      { eventId, named: recipient.id },
      'a recording names an event that its capture agent may not change; it is stored as a separate event',
    );
  }
  log.info({ eventId, package: draft.id, workflowId, part }, 'media package ingested');
  return { eventId, workflowId };
}

async function intakeOf(
  trx: Transaction,
  delivery: Delivery,
  contents: DraftContents,
  { recipient, part }: { recipient: Recipient | undefined; part: number | undefined },
  by: Submitter,
  services: Services,
): Promise<Intake> {
  const { principal, requestId, log } = by;
  const catalogs = services.catalogs.event;
  const own = recipient?.kind === 'foreign' ? undefined : recipient;
  const processing = await processingFor(trx, delivery, own, { ...services, log });
  const shared: Omit<Intake, 'target'> = {
    principal,
    rights: 'delivery',
    requestId,
    draft: packageOf(delivery.draftId, principal),
    tracks: [],
    documents: documentsOf(contents, catalogs),
    processing,
  };
  if (recipient?.kind === 'awaiting') {
    const edits = await editsOf(trx, recipient.id, contents, catalogs);
    const takes = { kind: 'recording', from: 'agent' } as const;
    return { ...shared, target: { kind: 'existing', id: recipient.id, edits, takes } };
  }
  const events =
    own && part !== undefined
      ? await furtherEventOf(trx, own, part, delivery.packageId, processing)
      : await newEventOf(trx, delivery, contents, processing, { by, catalogs });
  return { ...shared, target: { kind: 'new', events, gapMs: 0 } };
}

/**
 * Finds the event that already has these recordings: the recipient, or an event beside it; if the account may not
 * deliver to the recipient, one that it has delivered. Agents that lost the answer or power send recordings again.
 * Tracks made by workflows do not count.
 */
async function findSameRecording(
  trx: Transaction,
  { id, kind }: Recipient,
  tracks: readonly NewTrack[],
  principal: Principal,
): Promise<AcceptedDraft | undefined> {
  const ofAccount = kind === 'recorded' ? sql`true` : broughtBy(sql.ref('tracks.event_id'), principal);
  const sent = tracks.filter(isMedia).map(({ sha256 }) => sha256);
  const { rows } = await sql<{ eventId: string; held: (string | null)[]; workflowId: number | null }>`
    SELECT event_id AS "eventId", array_agg(sha256) AS held,
      (SELECT max(workflows.id) FROM workflows WHERE workflows.event_id = tracks.event_id) AS "workflowId"
    FROM tracks
    WHERE is_media AND made_by IS NULL AND event_id IN (SELECT ${id} UNION ALL SELECT event_id FROM further_recordings WHERE of_event = ${id})
      AND ${ofAccount}
    GROUP BY event_id ORDER BY event_id = ${id} DESC, event_id`.execute(trx);
  const same = rows.find(({ held }) => sameItems(held, sent));
  return same && { eventId: same.eventId, workflowId: same.workflowId ?? undefined };
}

/** Returns the number of the next part of a recording. The caller holds the lock on deliveries to the event. */
async function nextPartNumber(trx: Transaction, { id }: Recipient): Promise<number> {
  const { part } = await trx
    .selectFrom('further_recordings')
    .select(sql<number>`coalesce(max(part), 1) + 1`.as('part'))
    .where('of_event', '=', id)
    .executeTakeFirstOrThrow();
  return part;
}

function sameItems(a: readonly (string | null)[], b: readonly (string | null)[]): boolean {
  return !a.includes(null) && [...a].sort().join() === [...b].sort().join();
}

/**
 * Ingests a complete media package in one transaction, and removes objects that it does not need.
 * @param contents with readable catalogs; a new event needs a readable access control list
 * @throws {HttpError} as `deliver`
 */
export async function ingestWhole(
  c: Context,
  contents: DraftContents,
  delivery: Omit<Delivery, 'draftId'>,
  services: PackageServices,
): Promise<Response> {
  const { principal } = c.var;
  const { config, database, staging } = services;
  const draftId = randomUUID();
  const outcome = await withScheduleConflicts(database, principal, async (trx) => {
    const draft = packageOf(draftId, principal);
    await openDraft(trx, { ...draft, lifetimeMs: config.draftExpiryMs });
    const unneeded = await addToDraft(trx, draft, contents, staging);
    const delivered = await deliver(trx, { ...delivery, draftId }, c.var, services);
    // Nothing may fail after the commit, because clients trust the answer.
    return { unneeded, answer: await answerDelivered(c, trx, delivered, config.publicUrl) };
  });
  await staging.discard(outcome.unneeded);
  return outcome.answer;
}

const NOT_STARTED: ShownWorkflow = { id: 0, state: 'INSTANTIATED', definition: '', title: '' };

/** Returns the workflow and the event of a media package. */
export async function answerDelivered(
  c: Context,
  db: Queryable,
  { eventId, workflowId }: AcceptedDraft,
  publicUrl: string,
): Promise<Response> {
  const workflow = await workflowOf(db, workflowId);
  return xmlResponse(c, workflowXml(workflow, await packageOfEvent(db, eventId, publicUrl)));
}

async function workflowOf(db: Queryable, workflowId: number | undefined): Promise<ShownWorkflow> {
  const workflow = await db
    .selectFrom('workflows')
    .select(['id', 'state', 'definition', 'title'])
    .where('id', '=', workflowId ?? 0)
    .executeTakeFirst();
  return workflow ?? NOT_STARTED;
}

/** The event may have been deleted since; then the package is empty. */
async function packageOfEvent(db: Queryable, eventId: string, publicUrl: string) {
  const event = await db.selectFrom('events').select('start_date').where('id', '=', eventId).executeTakeFirst();
  const base = `${publicUrl}/api/events/${encodeURIComponent(eventId)}`;
  const elements = async (table: 'tracks' | 'attachments', order: string) => {
    const rows = db.selectFrom(table).select(['id', 'flavor', 'mediatype', 'tags', 'size']);
    const stored = await rows.where('event_id', '=', eventId).orderBy(sql.ref(order)).execute();
    return stored.map((element) => ({ ...element, url: `${base}/media/${element.id}` }));
  };
  return {
    id: eventId,
    start: event?.start_date ?? new Date(),
    tracks: await elements('tracks', 'position'),
    attachments: await elements('attachments', 'flavor'),
    catalogs: [],
  };
}
