import { z } from 'zod';
import { withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { DRAFT_TAKEN, type Draft, discardDraft, openDraft, readDraft, replaceDraft } from '#ingest/drafts.ts';
import { PACKAGE_DOOR } from '#ingest/unfinished-drafts.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { XML_ANSWER, xmlResponse } from '../text-answers.ts';
import { answerDelivered, deliver } from './delivery.ts';
import { deliveryIn } from './event-of-package.ts';
import {
  identifierIn,
  PACKAGE_REFUSALS,
  PackageField,
  readPackageReference,
  textFields,
  WRONG_IDENTIFIER,
} from './package-form.ts';
import { ECHO, EXAMPLE_ID, EXAMPLE_PACKAGE, shownPackage } from './package-xml.ts';
import { type PackageServices, packageOf, SUBMITTERS } from './packages.ts';
import { DELIVERY_FORBIDDEN, requireRecipient } from './recipient.ts';
import { DELIVERY_REFUSALS, WORKFLOW, WORKFLOW_ANSWER, withWorkflow } from './with-workflow.ts';

const PACKAGE = {
  description: 'The media package. Send it back with each following request.',
  ...XML_ANSWER,
  example: EXAMPLE_PACKAGE,
} as const;

export const createPackage = defineEndpoint({
  method: 'get',
  path: '/ingest/createMediaPackage',
  access: SUBMITTERS,
  writes: true,
  summary: 'Create a media package',
  description:
    'The package belongs to the account and expires after `DRAFT_EXPIRY_DAYS`. The event is created when the package is ingested. `HEAD` creates no package.',
  answers: { 200: PACKAGE },
  handle: async ({ c }, { config, database }: PackageServices) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': XML_ANSWER.mediaType });
    const { draftExpiryMs: lifetimeMs, publicUrl } = config;
    const draft = await openDraft(database, { door: PACKAGE_DOOR, principal: c.var.principal, lifetimeMs });
    return xmlResponse(c, await shownPackage(database, draft, publicUrl));
  },
});

export const createPackageWithId = defineEndpoint({
  method: 'put',
  path: '/ingest/createMediaPackageWithID/{package_id}',
  access: SUBMITTERS,
  summary: 'Create a media package with a given identifier',
  description:
    'The package becomes the recording of the event with this identifier, or a new event with it. A package that the account created before is returned with its elements. If it was ingested already, a new one is created, for a second recording of the event.',
  params: { package_id: pathParameter('Identifier of the media package.', EXAMPLE_ID) },
  answers: { 200: PACKAGE },
  refusals: [WRONG_IDENTIFIER, DELIVERY_FORBIDDEN, DRAFT_TAKEN],
  handle: async ({ c, params }, { config, database }: PackageServices) => {
    const { draftExpiryMs: lifetimeMs, publicUrl } = config;
    const { principal } = c.var;
    const id = identifierIn(params.package_id);
    const wanted = packageOf(id, principal);
    const draft = await inTransaction(database, async (trx): Promise<Draft> => {
      const precedence = await requireRecipient(trx, id, principal);
      // Agents name a package after its event. The event recognizes files that were delivered before.
      await replaceDraft(trx, wanted, precedence);
      return openDraft(trx, { ...wanted, lifetimeMs });
    }).catch(async (error): Promise<Draft> => {
      const own = await readDraft(database, wanted);
      if (own && !own.accepted) return own;
      throw error;
    });
    return xmlResponse(c, await shownPackage(database, draft, publicUrl));
  },
});

export const ingestPackage = withWorkflow({
  path: '/ingest/ingest',
  summary: 'Ingest a media package',
  description:
    'The package becomes the recording of the event that has its identifier or is scheduled as `workflowInstanceId`, else a new event. All other fields configure the workflow. An unknown workflow is replaced by the default one. A repeated request gets the same answer.',
  form: {
    fieldsAsFiles: true,
    schema: z.looseObject({
      mediaPackage: PackageField,
      workflowDefinitionId: z.string().optional().meta({ example: WORKFLOW }),
      workflowInstanceId: z.string().optional().describe('Identifier of the event in the calendar.'),
    }),
    example: { ...ECHO, workflowDefinitionId: WORKFLOW, straightToPublishing: 'true' },
  },
  answers: { 200: WORKFLOW_ANSWER },
  refusals: [...PACKAGE_REFUSALS, ...DELIVERY_REFUSALS],
  handle: async (request, workflow, services) => {
    const { c } = request;
    const fields = await textFields(request, services);
    const { id, principal } = readPackageReference(c, fields);
    const delivery = { draftId: id, packageId: id, ...deliveryIn(fields, workflow) };
    // Nothing may fail after the commit, because clients trust the answer.
    return withScheduleConflicts(services.database, principal, async (trx) => {
      const delivered = await deliver(trx, delivery, c.var, services);
      return answerDelivered(c, trx, delivered, services.config.publicUrl);
    });
  },
});

export const discardPackage = defineEndpoint({
  method: 'post',
  path: '/ingest/discardMediaPackage',
  access: SUBMITTERS,
  summary: 'Discard a media package',
  description: 'Its files are removed immediately. The event of an ingested package is kept.',
  form: {
    fieldsAsFiles: true,
    schema: z.object({ mediaPackage: PackageField }),
    example: ECHO,
  },
  answers: { 200: { description: 'The media package was discarded.' } },
  refusals: PACKAGE_REFUSALS,
  handle: async (request, services: PackageServices) => {
    const { c } = request;
    const draft = readPackageReference(c, await textFields(request, services));
    await inTransaction(services.database, (trx) => discardDraft(trx, draft));
    c.var.log.info({ package: draft.id }, 'media package discarded');
    return c.body(null, 200);
  },
});
