import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import type { DraftContents } from '#ingest/draft-contents.ts';
import { addToDraft, openDraft } from '#ingest/drafts.ts';
import { answerDelivered } from './answer-delivered.ts';
import type { Delivery } from './deliverer.ts';
import { deliver } from './delivery.ts';
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
