import type { z } from 'zod';
import { answerUploadFailure } from '#ingest/upload-failures.ts';
import type { Description, Endpoint, EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { XML_ANSWER } from '../text-answers.ts';
import { NO_MEDIA } from './delivery.ts';
import { EXAMPLE_WORKFLOW } from './package-xml.ts';
import { type PackageServices, SUBMITTERS } from './packages.ts';
import { DELIVERY_FORBIDDEN, EVENT_BEING_PROCESSED } from './recipient.ts';

export const WORKFLOW = 'schedule-and-upload';

export const WORKFLOW_ANSWER = {
  description: 'The started workflow, with the media package of the event.',
  ...XML_ANSWER,
  example: EXAMPLE_WORKFLOW,
} as const;
export const DELIVERY_REFUSALS = [NO_MEDIA, DELIVERY_FORBIDDEN, EVENT_BEING_PROCESSED];

/** An endpoint whose path may end with the workflow. */
type Declaration = Omit<Description, 'method' | 'access' | 'params'> & {
  access?: readonly string[];
  summary: string;
  form: Description['form'] & { schema: z.ZodObject };
  /** @param workflow from the path, if any */
  handle(request: EndpointRequest, workflow: string | undefined, services: PackageServices): Promise<Response>;
};

/** Declares a form endpoint twice: without and with the workflow at the end of the path. */
export function withWorkflow({
  access = SUBMITTERS,
  path,
  summary,
  handle,
  ...declaration
}: Declaration): [plain: Endpoint<PackageServices>, named: Endpoint<PackageServices>] {
  const answer = (request: EndpointRequest, services: PackageServices) => {
    const { workflow } = request.params as { workflow?: string };
    return handle(request, workflow, services).catch((error) => answerUploadFailure(request.c, error));
  };
  const shared = { ...declaration, method: 'post', access, handle: answer } as const;
  const params = { workflow: pathParameter('Identifier of the workflow definition.', WORKFLOW) };
  return [
    { ...shared, path, summary },
    { ...shared, path: `${path}/{workflow}`, summary: `${summary} with a workflow`, params },
  ];
}
