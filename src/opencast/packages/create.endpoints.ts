import type { Context } from 'hono';
import { z } from 'zod';
import { quoted } from '#capture/agents/names.ts';
import { chosenIdentifier } from '#catalogue/events/columns.ts';
import { DRAFT_TAKEN } from '#ingest/draft-refusals.ts';
import { type Draft, discardOthers, findDraft, forgetAccepted, openDraft } from '#ingest/drafts.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { EXAMPLE_ID, EXAMPLE_PACKAGE } from './examples.ts';
import { DELIVERERS, DOOR, type PackageServices, packageOf, shownPackage } from './packages.ts';
import { NOT_YOURS, requireRecipient } from './recipient.ts';

export const WRONG_IDENTIFIER = refusal(
  400,
  (id: string) =>
    `The identifier of the media package is ${quoted(id)}; allowed are 1 to 255 letters, digits and . _ ~ : @ -, not dots alone.`,
  ['a/b'],
);
const MEDIA_TYPE = 'text/xml; charset=utf-8';
const XML = { 'Content-Type': MEDIA_TYPE };
const PACKAGE = {
  description: 'The media package; it is to be sent back with each of the following requests.',
  mediaType: MEDIA_TYPE,
  body: z.string(),
  example: EXAMPLE_PACKAGE,
} as const;

export const createPackage = defineEndpoint({
  method: 'get',
  path: '/ingest/createMediaPackage',
  access: DELIVERERS,
  writes: true,
  summary: 'Begin a media package',
  description:
    'It belongs to the account and lives for `DRAFT_EXPIRY_DAYS`; there is no event before it is ingested. `HEAD` begins none.',
  answers: { 200: PACKAGE },
  handle: async ({ c }, { config, database }: PackageServices) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, XML);
    const { draftExpiryMs: lifetimeMs, publicUrl } = config;
    const draft = await openDraft(database, { door: DOOR, principal: c.var.principal, lifetimeMs });
    return answerPackage(c, await shownPackage(database, draft, publicUrl));
  },
});

export const createPackageWithId = defineEndpoint({
  method: 'put',
  path: '/ingest/createMediaPackageWithID/{package_id}',
  access: DELIVERERS,
  summary: 'Begin a media package of a chosen identifier',
  description:
    'If there is an event of this identifier, the package becomes its recording; else the event that it becomes has it. Of a package that the account has begun before, its parts are answered; one that it has ingested is begun anew, as for a second recording of an event.',
  params: { package_id: pathParameter('What it is to be called.', EXAMPLE_ID) },
  answers: { 200: PACKAGE },
  refusals: [WRONG_IDENTIFIER, NOT_YOURS, DRAFT_TAKEN],
  handle: async ({ c, params }, { config, database }: PackageServices) => {
    const { draftExpiryMs: lifetimeMs, publicUrl } = config;
    const { principal } = c.var;
    const id = identifierIn(params.package_id);
    const draft = await inTransaction(database, async (trx): Promise<Draft> => {
      const precedence = await requireRecipient(trx, id, principal);
      // Agents name a package after its event. The same files are known again by the event that has them.
      await forgetAccepted(trx, packageOf(id, principal), { ofOthers: precedence !== 'over none' });
      if (precedence === 'over all') await discardOthers(trx, packageOf(id, principal));
      return openDraft(trx, { id, door: DOOR, principal, lifetimeMs });
    }).catch(async (error): Promise<Draft> => {
      const own = await findDraft(database, packageOf(id, principal)).catch(() => undefined);
      if (own && !own.accepted) return own;
      throw error;
    });
    return answerPackage(c, await shownPackage(database, draft, publicUrl));
  },
});

/** @throws {HttpError} 400 for an identifier that no event can have */
export function identifierIn(text: string): string {
  try {
    const id = chosenIdentifier(new Map([['identifier', text]]));
    if (id !== undefined) return id;
  } catch {
    // Said in other words below.
  }
  throw WRONG_IDENTIFIER(text);
}

/** Clients read it as bytes, and expect this type. */
export function answerPackage(c: Context, xml: string): Response {
  return c.body(xml, 200, XML);
}
