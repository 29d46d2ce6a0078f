import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DRAFT_ACCEPTED } from '#ingest/drafts.ts';
import { answerUploadFailure, UPLOAD_REFUSALS } from '#ingest/upload-failures.ts';
import type { Endpoint, EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { percentDecoded } from '../received-text.ts';
import { XML_ANSWER } from '../text-answers.ts';
import { URL_REFUSED } from './fetch-url.ts';
import { EPISODE, EXAMPLE_DUBLIN_CORE, UNREADABLE_CATALOG } from './package-catalogs.ts';
import {
  ElementFields,
  FLAVOR_REFUSALS,
  flavorIn,
  PACKAGE_REFUSALS,
  PackageField,
  readPackageReference,
  textFields,
  WRONG_TAGS,
} from './package-form.ts';
import { ECHO, EXAMPLE_PACKAGE } from './package-xml.ts';
import { type PackageServices, SUBMITTERS } from './packages.ts';
import {
  addParts,
  type ElementKind,
  NO_FILE,
  receiveElement,
  TOO_MANY_ELEMENTS,
  TOO_MUCH_TEXT,
} from './receive-element.ts';

const File = z.string().optional().meta({
  description: 'The file: any part with a file name.',
  contentMediaType: 'application/octet-stream',
});
const ANSWER = { description: 'The media package with the new element.', ...XML_ANSWER, example: EXAMPLE_PACKAGE };
const REFUSALS = [
  ...[...PACKAGE_REFUSALS, DRAFT_ACCEPTED, ...FLAVOR_REFUSALS],
  ...[UNREADABLE_CATALOG, TOO_MANY_ELEMENTS, TOO_MUCH_TEXT],
];
const FILE_REFUSALS = [...REFUSALS, URL_REFUSED, WRONG_TAGS, NO_FILE, ...UPLOAD_REFUSALS];
const NO_DUBLIN_CORE = refusal(400, "Missing form parameter 'dublinCore'");

const FORM = {
  streams: 'any' as const,
  schema: z.object({
    mediaPackage: PackageField,
    ...ElementFields,
    BODY: File,
    url: z.string().optional().describe('URL to fetch the file from, at a host in `INGEST_URL_HOSTS`.'),
  }),
};
const SHARED = { method: 'post', access: SUBMITTERS, answers: { 200: ANSWER } } as const;
const forFiles = (kind: ElementKind) => ({
  ...SHARED,
  refusals: FILE_REFUSALS,
  handle: (request: EndpointRequest, services: PackageServices) =>
    receiveElement(request, kind, services).catch((error) => answerUploadFailure(request.c, error)),
});

/** Tracks, attachments and catalogs of a media package. */
export const ELEMENT_ENDPOINTS: readonly Endpoint<PackageServices>[] = [
  {
    ...forFiles('track'),
    path: '/ingest/addTrack',
    operationId: 'addTrackToPackage',
    summary: 'Add a track to a media package',
    description:
      'The file is streamed to the storage. Tracks can be sent concurrently, and repeated: the same bytes with the same flavor are stored once. An empty track is left out, so that other tracks of the recording are not lost.',
    form: { ...FORM, example: { ...ECHO, flavor: 'presenter/source', tags: '' } },
  },
  {
    ...forFiles('track'),
    path: '/ingest/addPartialTrack',
    summary: 'Add a part of a track to a media package',
    description: 'Works like a track. Parts with the same flavor are separate tracks.',
    form: {
      ...FORM,
      schema: FORM.schema.extend({ startTime: z.string().optional().describe('Start in milliseconds; ignored.') }),
      example: { ...ECHO, flavor: 'presenter/source+partial', startTime: '0' },
    },
  },
  {
    ...forFiles('attachment'),
    path: '/ingest/addAttachment',
    summary: 'Add an attachment to a media package',
    description:
      'For example an image. The flavor `security/xacml+episode` is an access control list (XACML 2.0 or JSON) for a new event.',
    form: { ...FORM, example: { ...ECHO, flavor: 'presenter/player+preview' } },
  },
  {
    ...forFiles('catalog'),
    path: '/ingest/addCatalog',
    summary: 'Add a catalog to a media package',
    description: 'XML of up to 1 MiB. The flavor `smil/cutting` lists the parts of the recording to keep.',
    form: { ...FORM, example: { ...ECHO, flavor: 'smil/cutting' } },
  },
  {
    ...SHARED,
    path: '/ingest/addDCCatalog',
    summary: 'Add Dublin Core to a media package',
    description: 'As text, percent-encoded text or a file.',
    form: {
      fieldsAsFiles: true,
      schema: z.object({
        mediaPackage: PackageField,
        dublinCore: z.string().describe('The catalog as XML, of up to 1 MiB.'),
        flavor: z.string().default(EPISODE).describe('Flavor of the catalog.'),
      }),
      example: { ...ECHO, dublinCore: EXAMPLE_DUBLIN_CORE, flavor: EPISODE },
    },
    refusals: [...REFUSALS, NO_DUBLIN_CORE, ...UPLOAD_REFUSALS],
    handle: (request, services) => addText(request, services).catch((error) => answerUploadFailure(request.c, error)),
  },
];

async function addText(request: EndpointRequest, services: PackageServices): Promise<Response> {
  const { c } = request;
  const fields = await textFields(request, services);
  const draft = readPackageReference(c, fields);
  const content = percentDecoded(fields.get('dublinCore') ?? '');
  if (content.trim() === '') throw NO_DUBLIN_CORE();
  const flavor = flavorIn(fields.get('flavor')?.trim() || EPISODE);
  const filename = flavor === EPISODE ? 'episode.xml' : 'dublincore.xml';
  return addParts(c, draft, { catalogs: [{ id: randomUUID(), flavor, filename, content }] }, services);
}
