import { z } from 'zod';
import { answerUploadFailure } from '#ingest/upload-failures.ts';
import {
  type Description,
  defineEndpoint,
  type Endpoint,
  type EndpointRequest,
} from '#platform/http/endpoint/endpoint.ts';
import { pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { NO_MEDIA } from './delivery.ts';
import { EXAMPLE_WORKFLOW, type PackageServices, SUBMITTERS } from './packages.ts';
import { DELIVERY_FORBIDDEN, EVENT_BEING_PROCESSED } from './recipient.ts';

export const WORKFLOW = 'schedule-and-upload';

export const WORKFLOW_ANSWER = {
  description: 'The started workflow, with the media package of the event.',
  mediaType: 'text/xml; charset=utf-8',
  body: z.string(),
  example: EXAMPLE_WORKFLOW,
} as const;
export const DELIVERY_REFUSALS = [NO_MEDIA, DELIVERY_FORBIDDEN, EVENT_BEING_PROCESSED];

/** An endpoint whose path may end with the workflow. */
type Declaration = Omit<Description, 'method' | 'access' | 'params'> & {
  access?: readonly string[];
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
  const shared = { ...declaration, method: 'post', access } as const;
  const answer =
    (named: (params: Readonly<Record<string, string>>) => string | undefined) =>
    (request: EndpointRequest, services: PackageServices) =>
      handle(request, named(request.params), services).catch((error) => answerUploadFailure(request.c, error));
  return [
    defineEndpoint({
      ...shared,
      path,
      summary: summary ?? '',
      handle: answer(() => undefined),
    }),
    defineEndpoint({
      ...shared,
      path: `${path}/{workflow}`,
      summary: `${summary} with a workflow`,
      params: { workflow: pathParameter('Identifier of the workflow definition.', WORKFLOW) },
      handle: answer(({ workflow }) => workflow),
    }),
  ];
}
