import { isMedia } from '#catalogue/events/tracks.ts';
import { accept } from '#ingest/accept.ts';
import { contentsOf, type DraftContents, dropDraft } from '#ingest/draft-contents.ts';
import { type AcceptedDraft, lockDraft } from '#ingest/drafts.ts';
import type { Intake } from '#ingest/intake.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { type Deliverer, type Delivery, processingFor } from './delivery-processing.ts';
import { documentsOf, editsOf, furtherEventOf, newEventOf } from './event-of-package.ts';
import { nextPart, recordedAs, writePart } from './further-recordings.ts';
import { type PackageServices, packageOf } from './packages.ts';
import { BEING_PROCESSED, NOT_YOURS, type Recipient, recipientOf } from './recipient.ts';

export const NO_MEDIA = refusal(
  400,
  'The media package holds no track that is to be seen or heard; nothing has been ingested.',
);

type Services = Pick<PackageServices, 'catalogs' | 'definitions' | 'staging'>;

/**
 * Makes an event of a media package, or the recording of one: in one transaction, together with the start of its
 * processing. An event that has its recording already gets another event beside it, unless the same files have come once
 * more. Whoever asks again is told what became of it.
 *
 * @throws {HttpError} 400 for a package without media, 403 for an event that is not the caller's to deliver to, 404, 409
 */
export async function deliver(
  trx: Transaction,
  delivery: Delivery,
  by: Deliverer,
  services: Services,
): Promise<AcceptedDraft> {
  const { principal, log } = by;
  const draft = packageOf(delivery.draftId, principal);
  const { accepted } = await lockDraft(trx, draft);
  if (accepted) return accepted;
  const contents = await contentsOf(trx, draft.id);
  if (!contents.tracks.some(isMedia)) throw NO_MEDIA();
  const recipient = await recipientOf(trx, delivery, principal);
  const known =
    recipient && recipient.kind !== 'awaiting' && (await recordedAs(trx, recipient, contents.tracks, principal));
  if (known) {
    await dropDraft(trx, draft, known);
    log.info({ eventId: known.eventId, package: draft.id }, 'the same recording has come once more');
    return known;
  }
  if (recipient?.kind === 'closed') throw NOT_YOURS(recipient.id);
  if (recipient?.busy) throw BEING_PROCESSED(recipient.id);
  const part = recipient && recipient.kind !== 'awaiting' ? await nextPart(trx, recipient) : undefined;
  const intake = await intakeOf(trx, { delivery, contents, recipient, part }, by, services);
  const { ids, workflowId } = await accept(trx, intake, services);
  const eventId = ids[0] ?? delivery.packageId;
  if (recipient && part !== undefined) await writePart(trx, recipient, { eventId, part });
  if (recipient?.kind === 'foreign') {
    log.warn(
      { eventId, named: recipient.id },
      'a recording came under the name of an event that this capture agent may not change; it is an event of its own now',
    );
  }
  log.info({ eventId, package: draft.id, workflowId, part }, 'a media package has been ingested');
  return { eventId, workflowId };
}

async function intakeOf(
  trx: Transaction,
  {
    delivery,
    contents,
    recipient,
    part,
  }: {
    delivery: Delivery;
    contents: DraftContents;
    recipient: Recipient | undefined;
    part: number | undefined;
  },
  by: Deliverer,
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
