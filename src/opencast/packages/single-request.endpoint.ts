import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { NewTrack } from '#catalogue/events/event-files.ts';
import type { DraftCatalog } from '#ingest/draft-contents.ts';
import { type ReceivedForm, receiveForm } from '#ingest/receive-form.ts';
import { type ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { UPLOAD_REFUSALS } from '#ingest/upload-failures.ts';
import { termTexts } from '#metadata/dublincore.ts';
import { xmlText } from '#metadata/xml-text.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type FilePart, isMultipart } from '#platform/http/form/multipart.ts';
import { detectTrackType } from '#platform/media/media-type.ts';
import { percentDecoded } from '../received-text.ts';
import { ingestWhole } from './delivery.ts';
import { deliveryIn, NO_PROPERTIES, NO_TITLE } from './event-of-package.ts';
import { storeFetched, URL_REFUSED } from './fetch-url.ts';
import { checkCatalog, EPISODE, EPISODE_POLICY, rootOf, UNREADABLE_CATALOG } from './package-catalogs.ts';
import {
  ElementFields,
  FLAVOR_REFUSALS,
  flavorIn,
  identifierIn,
  skipEmptyFiles,
  tagsIn,
  validIdentifier,
  WRONG_IDENTIFIER,
  WRONG_TAGS,
} from './package-form.ts';
import { type PackageServices, SLOT_WAIT_MS } from './packages.ts';
import { DELIVERY_REFUSALS, WORKFLOW_ANSWER, withWorkflow } from './with-workflow.ts';

const MOST = { fields: 1000, files: 50 };
/** Dublin Core terms that the form accepts as fields. */
const TERMS =
  'abstract accessRights available contributor coverage created creator date description extent format identifier isPartOf isReferencedBy isReplacedBy language license publisher relation replaces rights rightsHolder source spatial subject temporal title type'.split(
    ' ',
  );
/** Fields with URLs of catalogs, which are not supported. */
const CATALOG_ADDRESSES = ['episodeDCCatalogUri', 'seriesDCCatalogUri'];
/** Form fields that are not part of the workflow's configuration. */
const OTHERS = new Set([
  ...[...TERMS, ...CATALOG_ADDRESSES, ...NO_PROPERTIES],
  ...['flavor', 'tags', 'tag', 'mediaUri', 'acl', 'episodeDCCatalog', 'seriesDCCatalog'],
]);
/** Fields that are text even if clients send them as bytes. */
const Texts = Object.fromEntries(
  [...TERMS, ...CATALOG_ADDRESSES, ...NO_PROPERTIES, 'seriesDCCatalog'].map((name) => [name, z.string().optional()]),
);
/** Fields that clients may send as files. */
const TEXTS = new Set(['acl', 'episodeDCCatalog', 'seriesDCCatalog']);

const NO_CATALOG_URLS = refusal(
  400,
  (field: string) => `The form parameter '${field}' is not supported. Send the catalog itself as 'episodeDCCatalog'.`,
  ['episodeDCCatalogUri'],
);
const TOO_MANY_TRACKS = refusal(400, `A request must not have more than ${MOST.files} tracks.`);

export const SINGLE_REQUEST_ENDPOINTS = withWorkflow({
  path: '/ingest/addMediaPackage',
  summary: 'Ingest a recording in one request',
  description:
    'Send each flavor before its track, and metadata as Dublin Core terms, in any order; terms can be repeated. All other fields configure the workflow. The form can be urlencoded if all tracks are given by `mediaUri`. The event gets the `identifier` of the form or of the catalog; the same files sent again with it get the same answer.',
  form: {
    streams: 'any',
    schema: z.looseObject({
      ...ElementFields,
      ...Texts,
      BODY: z.string().optional().meta({
        description: 'A track: any part with a file name.',
        contentMediaType: 'application/octet-stream',
      }),
      tag: z.string().optional().describe('One tag; can be repeated.'),
      mediaUri: z.string().optional().describe('URL to fetch a track from, at a host in `INGEST_URL_HOSTS`.'),
      acl: z.string().optional().describe('The access control list as XACML, or as JSON such as `{"acl":{"ace":[]}}`.'),
      episodeDCCatalog: z.string().optional().describe('Dublin Core as XML, instead of the terms.'),
    }),
    example: { flavor: 'presenter/source', title: 'Algebra I', creator: 'Ada Lovelace' },
  },
  answers: { 200: WORKFLOW_ANSWER },
  refusals: [
    ...[...FLAVOR_REFUSALS, WRONG_TAGS, WRONG_IDENTIFIER, NO_TITLE, NO_CATALOG_URLS, TOO_MANY_TRACKS],
    ...[URL_REFUSED, UNREADABLE_CATALOG, ...DELIVERY_REFUSALS, ...UPLOAD_REFUSALS],
  ],
  handle: receive,
});

async function receive(
  request: EndpointRequest,
  workflow: string | undefined,
  services: PackageServices,
): Promise<Response> {
  const said: [name: string, value: string][] = [];
  const described: { flavor: string; tags: string[] }[] = [];
  const addresses: { flavor: string; tags: string[]; url: string }[] = [];
  const empty: string[] = [];
  let flavor: string | undefined;
  let tags: string | undefined;
  let single: string[] = [];
  /** Returns the tags of the current track and clears them for the next one. */
  const takeTags = () => {
    const all = [tags, ...single].join(',');
    [tags, single] = [undefined, []];
    return all;
  };
  const describe = () => ({ flavor: flavorIn(flavor), tags: tagsIn(takeTags()) });
  const takes = async ({ field }: { field: string }) => {
    if (TEXTS.has(field)) return 'text';
    described.push(describe());
    return 'store';
  };
  const onField = (name: string, value: string) => {
    said.push([name, value]);
    if (name === 'flavor') flavor = value;
    if (name === 'tags') tags = value;
    if (name === 'tag') single.push(value);
    if (name !== 'mediaUri' || value.trim() === '') return;
    if (addresses.length === MOST.files) throw TOO_MANY_TRACKS();
    addresses.push({ ...describe(), url: value.trim() });
  };
  const onEmpty = ({ filename }: FilePart) => {
    takeTags();
    empty.push(filename);
  };
  const accept = async ({ fields, files }: Pick<ReceivedForm, 'fields' | 'files'>, enter: () => Promise<void>) => {
    if (empty.length > 0) request.c.var.log.warn({ empty }, 'an input of the recording is empty');
    const sent = files.map((file, i) => trackOf(file, described[i] ?? { flavor: '', tags: [] }));
    await using staged = new StagedFiles(services, request.c.var.principal.username);
    const fetched: NewTrack[] = [];
    if (addresses.length + sent.length > MOST.files) throw TOO_MANY_TRACKS();
    if (addresses.length > 0) await enter();
    for (const { url, ...track } of addresses) {
      const before = [...sent, ...fetched].reduce((sum, { size }) => sum + size, 0);
      fetched.push(trackOf(await storeFetched(url, staged, services, before), track));
    }
    const catalogs = catalogsOf(fields, said);
    for (const { flavor, content } of catalogs) checkCatalog(flavor, content, services.catalogs.event);
    const contents = { tracks: [...sent, ...fetched], attachments: [], catalogs };
    const identifier = fields.get('identifier')?.trim();
    const delivery = {
      packageId: identifier ? identifierIn(identifier) : (identifierOf(catalogs) ?? randomUUID()),
      ...deliveryIn(fields, workflow, OTHERS),
      needsTitle: true,
    };
    const answer = await ingestWhole(request.c, contents, delivery, services);
    staged.keep();
    return answer;
  };
  if (isMultipart(request.c.req.header('Content-Type') ?? '')) {
    const options = { takes, onField, most: MOST, detect: detectTrackType, waitMs: SLOT_WAIT_MS };
    const tracksOnly = skipEmptyFiles(request, (field) => !TEXTS.has(field), onEmpty);
    await using form = await receiveForm(tracksOnly, options, services);
    const answer = await accept(form, form.enter);
    form.keep();
    return answer;
  }
  await using pass = services.gate.open(SLOT_WAIT_MS);
  const list = await request.fieldList();
  for (const [name, value] of list) onField(name, value);
  return await accept({ fields: new Map(list), files: [] }, pass.enter);
}

function trackOf({ field: _, ...file }: ReceivedFile, { flavor, tags }: { flavor: string; tags: string[] }): NewTrack {
  return { ...file, id: randomUUID(), flavor, tags };
}

/** @throws {HttpError} 400 */
function catalogsOf(fields: ReadonlyMap<string, string>, said: readonly (readonly [string, string])[]): DraftCatalog[] {
  for (const name of CATALOG_ADDRESSES) {
    if (fields.get(name)?.trim()) throw NO_CATALOG_URLS(name);
  }
  const acl = fields.get('acl')?.trim();
  const episode = percentDecoded(fields.get('episodeDCCatalog') ?? '').trim() || dublinCoreOf(said);
  return [
    { id: randomUUID(), flavor: EPISODE, filename: 'episode.xml', content: episode },
    ...(acl ? [{ id: randomUUID(), flavor: EPISODE_POLICY, filename: 'acl', content: acl }] : []),
  ];
}

/** Returns the identifier in the catalog, unless it is invalid for an event, such as a DOI. */
function identifierOf([episode]: readonly DraftCatalog[]): string | undefined {
  const [identifier = ''] = episode ? termTexts(rootOf(EPISODE, episode.content), 'identifier') : [];
  return validIdentifier(identifier);
}

function dublinCoreOf(said: readonly (readonly [string, string])[]): string {
  const terms = said
    .filter(([name]) => TERMS.includes(name))
    .map(([name, value]) => `<dcterms:${name}>${xmlText(value)}</dcterms:${name}>`);
  return `<dublincore xmlns:dcterms="http://purl.org/dc/terms/">${terms.join('')}</dublincore>`;
}
