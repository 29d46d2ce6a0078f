import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { answerFailure, UPLOAD_REFUSALS } from '#ingest/answer-failure.ts';
import { DRAFT_ACCEPTED, DRAFT_GONE } from '#ingest/draft-refusals.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { URL_REFUSED } from './fetch-url.ts';
import { EPISODE, UNREADABLE_CATALOG } from './package-catalogs.ts';
import {
  ElementFields,
  flavorIn,
  NO_FLAVOR,
  NO_PACKAGE,
  percentDecoded,
  readPackageReference,
  textFields,
  UNREADABLE_PACKAGE,
  WRONG_FLAVOR,
  WRONG_TAGS,
} from './package-form.ts';
import { ECHO, EXAMPLE_DUBLIN_CORE, EXAMPLE_PACKAGE } from './package-xml.ts';
import { SUBMITTERS, type PackageServices } from './packages.ts';
import {
  addParts,
  type ElementKind,
  NO_FILE,
  receiveElement,
  TOO_MANY_ELEMENTS,
  TOO_MUCH_TEXT,
} from './receive-element.ts';

const Echo = z.string().meta({ description: 'The media package as the last request answered it.' });
const File = z.string().optional().meta({
  description: 'The file: a part with a file name, of whatever name.',
  contentMediaType: 'application/octet-stream',
});
const ANSWER = {
  200: {
    description: 'The media package with it.',
    mediaType: 'text/xml; charset=utf-8',
    body: z.string(),
    example: EXAMPLE_PACKAGE,
  },
} as const;
const REFUSALS = [
  NO_PACKAGE,
  UNREADABLE_PACKAGE,
  DRAFT_GONE,
  DRAFT_ACCEPTED,
  NO_FLAVOR,
  WRONG_FLAVOR,
  UNREADABLE_CATALOG,
  TOO_MANY_ELEMENTS,
  TOO_MUCH_TEXT,
];
const FILE_REFUSALS = [...REFUSALS, URL_REFUSED, WRONG_TAGS, NO_FILE, ...UPLOAD_REFUSALS];
const NO_DUBLIN_CORE = refusal(400, "Missing form parameter 'dublinCore'");

const adding = (kind: ElementKind) => (request: EndpointRequest, services: PackageServices) =>
  receiveElement(request, kind, services).catch((error) => answerFailure(request.c, error));
const FORM = {
  streams: 'any' as const,
  schema: z.object({
    mediaPackage: Echo,
    ...ElementFields,
    BODY: File,
    url: z
      .string()
      .optional()
      .describe('Where it is to be fetched from in place of a file, of the hosts in `INGEST_URL_HOSTS`.'),
  }),
};

/** Tracks, attachments and catalogs of a media package. */
export const ELEMENT_ENDPOINTS = [
  defineEndpoint({
    method: 'post',
    path: '/ingest/addTrack',
    operationId: 'addTrackToPackage',
    access: SUBMITTERS,
    summary: 'Add a track to a media package',
    description:
      'It streams into storage as it comes, and may be sent again: of the same flavor and the same bytes there is one. Several may come at once. One without content is left out: what an agent has recorded otherwise is not lost with it.',
    form: { ...FORM, example: { ...ECHO, flavor: 'presenter/source', tags: '' } },
    answers: ANSWER,
    refusals: FILE_REFUSALS,
    handle: adding('track'),
  }),
  defineEndpoint({
    method: 'post',
    path: '/ingest/addPartialTrack',
    access: SUBMITTERS,
    summary: 'Add a part of a track to a media package',
    description: 'The same as a track; parts of one flavor are tracks of their own.',
    form: {
      ...FORM,
      schema: FORM.schema.extend({
        startTime: z.string().optional().describe('Where it starts, in milliseconds; not used.'),
      }),
      example: { ...ECHO, flavor: 'presenter/source+partial', startTime: '0' },
    },
    answers: ANSWER,
    refusals: FILE_REFUSALS,
    handle: adding('track'),
  }),
  defineEndpoint({
    method: 'post',
    path: '/ingest/addAttachment',
    access: SUBMITTERS,
    summary: 'Add an attachment to a media package',
    description:
      'A picture, for example. Of flavor `security/xacml+episode` it is an access control list (XACML 2.0, or JSON) for an event that is new.',
    form: { ...FORM, example: { ...ECHO, flavor: 'presenter/player+preview' } },
    answers: ANSWER,
    refusals: FILE_REFUSALS,
    handle: adding('attachment'),
  }),
  defineEndpoint({
    method: 'post',
    path: '/ingest/addCatalog',
    access: SUBMITTERS,
    summary: 'Add a catalog to a media package',
    description: 'XML of up to 1 MiB. Of flavor `smil/cutting` it says which parts of the recording are kept.',
    form: { ...FORM, example: { ...ECHO, flavor: 'smil/cutting' } },
    answers: ANSWER,
    refusals: FILE_REFUSALS,
    handle: adding('catalog'),
  }),
  defineEndpoint({
    method: 'post',
    path: '/ingest/addDCCatalog',
    access: SUBMITTERS,
    summary: 'Add Dublin Core to a media package',
    description: 'As text, percent-encoded text, or a file.',
    form: {
      fieldsAsFiles: true,
      schema: z.object({
        mediaPackage: Echo,
        dublinCore: z.string().describe('The catalog as XML, of up to 1 MiB.'),
        flavor: z.string().default(EPISODE).describe('Which catalog it is.'),
      }),
      example: { ...ECHO, dublinCore: EXAMPLE_DUBLIN_CORE, flavor: EPISODE },
    },
    answers: ANSWER,
    refusals: [...REFUSALS, NO_DUBLIN_CORE, ...UPLOAD_REFUSALS],
    handle: (request, services: PackageServices) =>
      addText(request, services).catch((error) => answerFailure(request.c, error)),
  }),
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
