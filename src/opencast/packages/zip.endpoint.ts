import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { answerFailure, UPLOAD_REFUSALS } from '#ingest/answer-failure.ts';
import { requireRoom } from '#ingest/room.ts';
import { StagedFiles } from '#ingest/staged-files.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { BodyReader } from '#platform/http/form/body.ts';
import { FILES_TOO_LARGE, type FilePart, isMultipart } from '#platform/http/form/multipart.ts';
import { identifierIn } from './create.endpoints.ts';
import { DELIVERY_REFUSALS, WORKFLOW_ANSWER } from './ingest.endpoint.ts';
import { FILE_MISSING, NO_MANIFEST, TRACK_WITHOUT_FLAVOR } from './manifest.ts';
import { type PackageServices, TURN } from './packages.ts';
import { propertiesIn } from './processing.ts';
import { NO_FILE } from './receive-element.ts';
import { ingestWhole } from './whole-package.ts';
import { withWorkflow } from './with-workflow.ts';
import { ZIP_REFUSED } from './zip/refusals.ts';
import { unpack } from './zip-entries.ts';
import { packageIn, type ZippedPackage } from './zipped-package.ts';

const FIELDS = { fieldBytes: 2 ** 20, fields: 1000, files: 1 };

const Archive = z.string().optional().meta({ contentMediaType: 'application/zip' });

export const [addZippedPackage, addZippedPackageWith] = withWorkflow({
  path: '/ingest/addZippedMediaPackage',
  summary: 'Ingest a recording as a zip archive',
  description:
    'Unpacked while it arrives. Its `manifest.xml` is a media package whose parts name files of the archive. All fields but `workflowDefinitionId` and `workflowInstanceId` are values of the configuration of the workflow. The archive may as well be the whole body.',
  form: {
    streams: 'any',
    schema: z
      .object({
        workflowDefinitionId: z.string().optional(),
        workflowInstanceId: z.string().optional().describe('What the calendar calls the event.'),
        track: Archive.meta({
          ...Archive.meta(),
          description: 'The archive: a part with a file name, of whatever name.',
        }),
        BODY: Archive.meta({ ...Archive.meta(), description: 'The same.' }),
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
  refusals: [
    ZIP_REFUSED,
    NO_MANIFEST,
    FILE_MISSING,
    TRACK_WITHOUT_FLAVOR,
    NO_FILE,
    ...DELIVERY_REFUSALS,
    ...UPLOAD_REFUSALS,
  ],
  handle: (request, workflow, services) =>
    receive(request, workflow, services).catch((error) => answerFailure(request.c, error)),
});

async function receive(
  request: EndpointRequest,
  workflow: string | undefined,
  services: PackageServices,
): Promise<Response> {
  await using pass = services.gate.open(TURN);
  await pass.enter();
  // Also what the manifest does not name is removed; what rows have taken stays.
  await using staged = new StagedFiles(services, request.c.var.principal.username);
  await requireRoom(request, services);
  const { fields, zipped } = await unpackRequest(request, staged, services);
  if (!zipped) throw NO_FILE();
  const { leftOut, emptyTracks, uncut } = zipped;
  const { log } = request.c.var;
  if (leftOut.length > 0) log.info({ leftOut }, 'parts of a media package are left out');
  if (emptyTracks.length > 0) log.warn({ emptyTracks }, 'inputs of a recording have recorded nothing');
  if (uncut.length > 0) log.warn({ uncut }, 'what is to be cut off cannot be read, and is kept');
  const delivery = {
    packageId: chosenOrNew(zipped.id),
    instanceId: fields.get('workflowInstanceId')?.trim(),
    workflow: workflow ?? fields.get('workflowDefinitionId'),
    properties: propertiesIn(fields),
  };
  return await ingestWhole(request.c, zipped.contents, delivery, services);
}

/** Agents call their packages what they like. */
function chosenOrNew(id: string): string {
  try {
    return identifierIn(id);
  } catch {
    return randomUUID();
  }
}

async function unpackRequest(
  request: EndpointRequest,
  staged: StagedFiles,
  { config, catalogs }: PackageServices,
): Promise<{ fields: ReadonlyMap<string, string>; zipped: ZippedPackage | undefined }> {
  const { maxUploadBytes: maxBytes, uploadIdleMs: idleMs } = config;
  // On the same disk as all that is kept.
  const options = { maxBytes, folder: join(config.dataDir, 'work') };
  const open = async (source: AsyncIterable<Uint8Array>) =>
    packageIn(await unpack(source, options, staged), staged, catalogs.event);
  if (!isMultipart(request.c.req.header('Content-Type') ?? '')) {
    return { fields: new Map(), zipped: await open(bodyOf(request.c.req.raw, maxBytes, idleMs)) };
  }
  let zipped: ZippedPackage | undefined;
  const onFile = async ({ stream }: FilePart) => {
    zipped = await open(stream);
  };
  const fields = await request.files({ ...FIELDS, fileBytes: maxBytes, idleMs }, onFile);
  return { fields, zipped };
}

async function* bodyOf(request: Request, maxBytes: number, idleMs: number): AsyncGenerator<Uint8Array> {
  const body = new BodyReader(request, idleMs);
  let bytes = 0;
  try {
    for (let chunk = await body.read(); chunk; chunk = await body.read()) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw FILES_TOO_LARGE(maxBytes);
      yield chunk;
    }
  } finally {
    await body.cancel();
  }
}
