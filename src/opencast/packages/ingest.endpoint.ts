import { z } from 'zod';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { answerFailure } from '#ingest/answer-failure.ts';
import { DRAFT_GONE } from '#ingest/draft-refusals.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { answerDelivered } from './answer-delivered.ts';
import { deliver, NO_MEDIA } from './delivery.ts';
import { NO_PACKAGE, UNREADABLE_PACKAGE } from './echoed-package.ts';
import { ECHO, EXAMPLE_WORKFLOW } from './examples.ts';
import type { PackageServices } from './packages.ts';
import { propertiesIn } from './processing.ts';
import { which } from './receive-element.ts';
import { BEING_PROCESSED, NOT_YOURS } from './recipient.ts';
import { textFields } from './text-fields.ts';
import { WORKFLOW, withWorkflow } from './with-workflow.ts';

export const WORKFLOW_ANSWER = {
  description: 'The workflow that has been started, with the media package as the event has it.',
  mediaType: 'text/xml; charset=utf-8',
  body: z.string(),
  example: EXAMPLE_WORKFLOW,
} as const;
export const DELIVERY_REFUSALS = [NO_MEDIA, NOT_YOURS, BEING_PROCESSED];

export const [ingestPackage, ingestPackageWith] = withWorkflow({
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
    const { id } = which(c, fields);
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
