import { z } from 'zod';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { answerFailure } from '#ingest/answer-failure.ts';
import { DRAFT_GONE, DRAFT_TAKEN } from '#ingest/draft-refusals.ts';
import { type Draft, discardDraft, discardOthers, findDraft, forgetAccepted, openDraft } from '#ingest/drafts.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/schemas.ts';
import { answerDelivered, deliver } from './delivery.ts';
import { propertiesIn } from './event-of-package.ts';
import {
  identifierIn,
  NO_PACKAGE,
  readPackageReference,
  textFields,
  UNREADABLE_PACKAGE,
  WRONG_IDENTIFIER,
} from './package-form.ts';
import { ECHO, EXAMPLE_ID, EXAMPLE_PACKAGE } from './package-xml.ts';
import {
  answerPackage,
  SUBMITTERS,
  DOOR,
  PACKAGE_MEDIA_TYPE,
  type PackageServices,
  packageOf,
  shownPackage,
} from './packages.ts';
import { DELIVERY_FORBIDDEN, requireRecipient } from './recipient.ts';
import { DELIVERY_REFUSALS, WORKFLOW, WORKFLOW_ANSWER, withWorkflow } from './with-workflow.ts';

const PACKAGE = {
  description: 'The media package; it is to be sent back with each of the following requests.',
  mediaType: PACKAGE_MEDIA_TYPE,
  body: z.string(),
  example: EXAMPLE_PACKAGE,
} as const;

export const createPackage = defineEndpoint({
  method: 'get',
  path: '/ingest/createMediaPackage',
  access: SUBMITTERS,
  writes: true,
  summary: 'Begin a media package',
  description:
    'It belongs to the account and lives for `DRAFT_EXPIRY_DAYS`; there is no event before it is ingested. `HEAD` begins none.',
  answers: { 200: PACKAGE },
  handle: async ({ c }, { config, database }: PackageServices) => {
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'Content-Type': PACKAGE_MEDIA_TYPE });
    const { draftExpiryMs: lifetimeMs, publicUrl } = config;
    const draft = await openDraft(database, { door: DOOR, principal: c.var.principal, lifetimeMs });
    return answerPackage(c, await shownPackage(database, draft, publicUrl));
  },
});

export const createPackageWithId = defineEndpoint({
  method: 'put',
  path: '/ingest/createMediaPackageWithID/{package_id}',
  access: SUBMITTERS,
  summary: 'Begin a media package of a chosen identifier',
  description:
    'If there is an event of this identifier, the package becomes its recording; else the event that it becomes has it. Of a package that the account has begun before, its parts are answered; one that it has ingested is begun anew, as for a second recording of an event.',
  params: { package_id: pathParameter('What it is to be called.', EXAMPLE_ID) },
  answers: { 200: PACKAGE },
  refusals: [WRONG_IDENTIFIER, DELIVERY_FORBIDDEN, DRAFT_TAKEN],
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

export const ingestPackage = withWorkflow({
  path: '/ingest/ingest',
  summary: 'Ingest a media package',
  description:
    'It is the recording of the event that has the identifier of the package or is scheduled as `workflowInstanceId`; else it becomes an event. All other fields are values of the configuration of the workflow. A workflow that nobody knows stands for the usual one. Who asks again gets the same answer.',
  form: {
    fieldsAsFiles: true,
    schema: z.looseObject({
      mediaPackage: z.string().meta({ description: 'The media package as the last request answered it.' }),
      workflowDefinitionId: z.string().optional().meta({ example: WORKFLOW }),
      workflowInstanceId: z.string().optional().describe('What the calendar calls the event.'),
    }),
    example: { ...ECHO, workflowDefinitionId: WORKFLOW, straightToPublishing: 'true' },
  },
  answers: { 200: WORKFLOW_ANSWER },
  refusals: [NO_PACKAGE, UNREADABLE_PACKAGE, DRAFT_GONE, ...DELIVERY_REFUSALS],
  handle: ingest,
});

async function ingest(
  request: EndpointRequest,
  workflow: string | undefined,
  services: PackageServices,
): Promise<Response> {
  const { c } = request;
  const { principal, requestId, log } = c.var;
  const { config } = services;
  try {
    const fields = await textFields(request, services);
    const { id } = readPackageReference(c, fields);
    const delivery = {
      draftId: id,
      packageId: id,
      instanceId: fields.get('workflowInstanceId')?.trim(),
      workflow: workflow ?? fields.get('workflowDefinitionId'),
      properties: propertiesIn(fields),
    };
    // Nothing may fail after the commit: who is told that it has failed believes that.
    return await explainingConflicts(services.database, principal, async (trx) => {
      const delivered = await deliver(trx, delivery, { principal, requestId, log }, services);
      return answerDelivered(c, trx, delivered, config.publicUrl);
    });
  } catch (error) {
    return answerFailure(c, error);
  }
}

export const discardPackage = defineEndpoint({
  method: 'post',
  path: '/ingest/discardMediaPackage',
  access: SUBMITTERS,
  summary: 'Give a media package up',
  description: 'Its files are removed at once. One that has been ingested stays an event.',
  form: {
    fieldsAsFiles: true,
    schema: z.object({
      mediaPackage: z.string().meta({ description: 'The media package as the last request answered it.' }),
    }),
    example: ECHO,
  },
  answers: { 200: { description: 'It is gone.' } },
  refusals: [NO_PACKAGE, UNREADABLE_PACKAGE, DRAFT_GONE],
  handle: async (request, services: PackageServices) => {
    const { c } = request;
    const draft = readPackageReference(c, await textFields(request, services));
    await inTransaction(services.database, (trx) => discardDraft(trx, draft));
    c.var.log.info({ package: draft.id }, 'a media package has been discarded');
    return c.body(null, 200);
  },
});
