import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { receiveForm, requireDiskSpace } from '#ingest/receive-form.ts';
import { StagedFiles } from '#ingest/staged-files.ts';
import { UPLOAD_REFUSALS } from '#ingest/upload-failures.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { FILES_TOO_LARGE, type FormLimits, isMultipart } from '#platform/http/form/multipart.ts';
import { BodyReader } from '#platform/http/form/request-body.ts';
import { ingestWhole } from './delivery.ts';
import { deliveryIn } from './event-of-package.ts';
import { validIdentifier } from './package-form.ts';
import { type PackageServices, SLOT_WAIT_MS } from './packages.ts';
import { NO_FILE } from './receive-element.ts';
import { DELIVERY_REFUSALS, WORKFLOW_ANSWER, withWorkflow } from './with-workflow.ts';
import { ZIP_REFUSED, ZipArchive } from './zip-archive.ts';
import { MANIFEST_REFUSALS, readZippedPackage } from './zipped-package.ts';

const OPTIONS = { most: { fields: 1000, files: 1 }, waitMs: SLOT_WAIT_MS };

const Archive = z.string().optional().meta({ contentMediaType: 'application/zip' });

export const ZIP_ENDPOINTS = withWorkflow({
  path: '/ingest/addZippedMediaPackage',
  summary: 'Ingest a recording as a zip archive',
  description:
    'The elements of its `manifest.xml`, a media package, name files of the archive. All fields but `workflowDefinitionId` and `workflowInstanceId` configure the workflow. The archive can also be the whole body.',
  form: {
    streams: 'any',
    schema: z
      .object({
        workflowDefinitionId: z.string().optional(),
        workflowInstanceId: z.string().optional().describe('Identifier of the event in the calendar.'),
        track: Archive.meta({
          ...Archive.meta(),
          description: 'The archive: any part with a file name.',
        }),
        BODY: Archive.meta({ ...Archive.meta(), description: 'Same as `track`.' }),
      })
      .catchall(z.string()),
    example: { workflowDefinitionId: 'schedule-and-upload', straightToPublishing: 'true' },
    bodies: {
      'application/zip': {
        schema: z.string().meta({ contentMediaType: 'application/zip' }),
        example: 'PK',
      },
    },
  },
  answers: { 200: WORKFLOW_ANSWER },
  refusals: [ZIP_REFUSED, ...MANIFEST_REFUSALS, NO_FILE, ...DELIVERY_REFUSALS, ...UPLOAD_REFUSALS],
  handle: receive,
});

async function receive(
  request: EndpointRequest,
  workflow: string | undefined,
  services: PackageServices,
): Promise<Response> {
  const { c } = request;
  const { config, storage, catalogs } = services;
  // The archive and its files are both stored.
  await requireDiskSpace(request, services, 2);
  const isForm = isMultipart(c.req.header('Content-Type') ?? '');
  await using form = await receiveForm(isForm ? request : bodyAsFile(request), OPTIONS, services);
  const [object] = form.files;
  if (!object) throw NO_FILE();
  const archive = await ZipArchive.open(storage, object, config.maxUploadBytes);
  await storage.requireRoom([...archive.files.values()].reduce((sum, { size }) => sum + size, 0));
  // Files that no row has taken are removed.
  await using staged = new StagedFiles(services, c.var.principal.username);
  const zipped = await readZippedPackage(archive, staged, catalogs.event);
  const { leftOut, emptyTracks, uncut } = zipped;
  const { log } = c.var;
  if (leftOut.length > 0) log.info({ leftOut }, 'elements of the media package left out');
  if (emptyTracks.length > 0) log.warn({ emptyTracks }, 'inputs of the recording are empty');
  if (uncut.length > 0) log.warn({ uncut }, 'the cutting list is unreadable, so nothing is cut');
  // Agents may use any text as identifier.
  const delivery = { packageId: validIdentifier(zipped.id) ?? randomUUID(), ...deliveryIn(form.fields, workflow) };
  return await ingestWhole(c, zipped.contents, delivery, services);
}

/** Presents a body that is an archive as a form with one file. */
function bodyAsFile(request: EndpointRequest): EndpointRequest {
  const files: EndpointRequest['files'] = async (limits, onFile) => {
    const stream = Readable.from(bodyOf(request.c.req.raw, limits));
    await onFile({ field: 'BODY', filename: 'package.zip', isEmpty: false, stream });
    return new Map();
  };
  return { ...request, files };
}

async function* bodyOf(request: Request, { fileBytes, idleMs }: FormLimits): AsyncGenerator<Uint8Array, void, void> {
  const body = new BodyReader(request, idleMs);
  let bytes = 0;
  try {
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      bytes += chunk.length;
      if (bytes > fileBytes) throw FILES_TOO_LARGE(fileBytes);
      yield chunk;
    }
  } finally {
    await body.cancel();
  }
}
