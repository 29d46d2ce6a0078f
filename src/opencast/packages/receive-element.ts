import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { addToDraft, type DraftContents, extendDraft, readContents } from '#ingest/draft-contents.ts';
import { DRAFT_ACCEPTED, findDraft } from '#ingest/drafts.ts';
import { receiveForm } from '#ingest/receive-form.ts';
import { type ReceivedFile, StagedFiles } from '#ingest/staged-files.ts';
import { inTransaction } from '#platform/database/retry.ts';
import type { EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { isMultipart } from '#platform/http/form/multipart.ts';
import { detectTrackType } from '#platform/media/media-type.ts';
import { xmlResponse } from '../text-answers.ts';
import { readFetched, storeFetched } from './fetch-url.ts';
import { checkCatalog, isPolicy } from './package-catalogs.ts';
import { flavorIn, readPackageReference, skipEmptyFiles, tagsIn } from './package-form.ts';
import { shownPackage } from './package-xml.ts';
import { type PackageServices, type packageOf, SLOT_WAIT_MS } from './packages.ts';

/** Upper limit, because answers list all elements. */
const MOST_ELEMENTS = 500;
/** Limits for one request. Clients send additional fields. */
const MOST = { fields: 100, files: 10 };
/** Fields that some clients send as files. */
const TEXTS = new Set(['mediaPackage', 'flavor', 'tags', 'dublinCore']);

export const TOO_MANY_ELEMENTS = refusal(400, `A media package must not have more than ${MOST_ELEMENTS} elements.`);
/** Characters of all catalogs together, because each request reads them. */
const MOST_TEXT = 8 * 2 ** 20;
export const TOO_MUCH_TEXT = refusal(
  413,
  `The catalogs of a media package must not have more than ${MOST_TEXT} characters in total.`,
);
export const NO_FILE = refusal(400, 'The form has no part with a file.');

export type ElementKind = 'track' | 'attachment' | 'catalog';

/** A file of the form, with its description from the fields before it. */
interface Described {
  flavor: string;
  tags: string[];
  filename: string;
}

/**
 * Receives a form that adds to a media package. The flavor precedes the file, which is streamed to the storage. The
 * name of the form field, the file name and the type are free. An empty track is ignored.
 * @returns the package with the new element
 * @throws {HttpError} if the package does not exist: before the file is read, if the form has named the package by then
 */
export async function receiveElement(
  request: EndpointRequest,
  kind: ElementKind,
  services: PackageServices,
): Promise<Response> {
  const { c } = request;
  const { database } = services;
  if (!isMultipart(c.req.header('Content-Type') ?? '')) {
    const all = await request.fields();
    await using pass = services.gate.open(SLOT_WAIT_MS);
    return await addFetched(c, kind, { fields: all, enter: pass.enter }, services);
  }
  const fields = new Map<string, string>();
  const stored: Described[] = [];
  const read: Described[] = [];
  const empty: string[] = [];
  const takes = async ({ field, filename }: { field: string; filename: string }) => {
    if (TEXTS.has(field)) return 'text';
    const flavor = flavorIn(fields.get('flavor'));
    const tags = tagsIn(fields.get('tags'));
    if (fields.has('mediaPackage')) {
      const { id, accepted } = await findDraft(database, readPackageReference(c, fields));
      if (accepted) throw DRAFT_ACCEPTED(id);
    }
    const asText = isText(kind, flavor);
    (asText ? read : stored).push({ flavor, tags, filename });
    return asText ? 'text' : 'store';
  };
  const onField = (name: string, value: string) => void fields.set(name, value);
  const isTrackFile = (field: string) => kind === 'track' && !TEXTS.has(field);
  const options = { takes, onField, most: MOST, detect: detectTrackType, waitMs: SLOT_WAIT_MS } as const;
  const filled = skipEmptyFiles(request, isTrackFile, ({ filename }) => void empty.push(filename));
  await using form = await receiveForm(filled, options, services);
  const { fields: all, files, texts: sent, enter } = form;
  if (empty.length > 0) {
    c.var.log.warn({ package: readPackageReference(c, all).id, empty }, 'an input of the recording is empty');
  }
  if (stored.length + read.length === 0) {
    const isNothing = empty.length > 0 && !all.get('url')?.trim();
    if (isNothing) return await addParts(c, readPackageReference(c, all), {}, services);
    return await addFetched(c, kind, { fields: all, enter }, services);
  }
  const [only] = stored;
  // Tags after the only file belong to it.
  if (only && stored.length + read.length === 1) only.tags = tagsIn(all.get('tags'));
  const contents = sent.filter(({ field }) => !TEXTS.has(field));
  const texts = read.map(({ flavor, filename }, i) => {
    const content = contents[i]?.text ?? '';
    return { flavor, filename, content };
  });
  const answer = await addParts(c, readPackageReference(c, all), contentsOfForm(kind, stored, files, texts), services);
  form.keep();
  return answer;
}

/**
 * Adds the file at the URL in the field `url`.
 * @param enter waits for an upload slot before anything is fetched
 */
async function addFetched(
  c: Context,
  kind: ElementKind,
  { fields, enter }: { fields: ReadonlyMap<string, string>; enter: () => Promise<void> },
  services: PackageServices,
): Promise<Response> {
  const url = fields.get('url')?.trim();
  const draft = readPackageReference(c, fields);
  if (!url) throw NO_FILE();
  const [flavor, tags] = [flavorIn(fields.get('flavor')), tagsIn(fields.get('tags'))];
  await findDraft(services.database, draft);
  await enter();
  if (isText(kind, flavor)) {
    const text = await readFetched(url, services);
    return addParts(c, draft, { catalogs: [{ ...text, id: randomUUID(), flavor }] }, services);
  }
  await using staged = new StagedFiles(services, c.var.principal.username);
  const file = await storeFetched(url, staged, services);
  const described = [{ flavor, tags, filename: file.filename }];
  const answer = await addParts(c, draft, contentsOfForm(kind, described, [file], []), services);
  staged.keep();
  return answer;
}

/**
 * Adds received elements to a media package, except those that it has already, and returns the package.
 * @throws {HttpError} 400 for an invalid catalog or too many elements; 404, 409
 */
export async function addParts(
  c: Context,
  draft: ReturnType<typeof packageOf>,
  contents: Partial<DraftContents>,
  { config, database, staging, catalogs }: PackageServices,
): Promise<Response> {
  for (const { flavor, content } of contents.catalogs ?? []) checkCatalog(flavor, content, catalogs.event);
  const { unneeded, xml } = await inTransaction(database, async (trx) => {
    const unneeded = await addToDraft(trx, draft, contents, staging);
    const held = await readContents(trx, draft.id);
    const texts = held.catalogs.reduce((sum, { content }) => sum + content.length, 0);
    if (texts > MOST_TEXT) throw TOO_MUCH_TEXT();
    if (held.tracks.length + held.attachments.length + held.catalogs.length > MOST_ELEMENTS) throw TOO_MANY_ELEMENTS();
    const extended = await extendDraft(trx, draft, config.draftExpiryMs);
    return { unneeded, xml: await shownPackage(trx, extended, config.publicUrl) };
  });
  await staging.discard(unneeded);
  const { tracks = [], attachments = [], catalogs: texts = [] } = contents;
  const flavors = [...tracks, ...attachments, ...texts].map(({ flavor }) => flavor);
  if (flavors.length > 0) {
    const bytes = [...tracks, ...attachments].reduce((sum, { size }) => sum + size, 0);
    const repeated = unneeded.length;
    c.var.log.info({ package: draft.id, flavors, bytes, repeated }, 'media package extended');
  }
  return xmlResponse(c, xml);
}

function contentsOfForm(
  kind: ElementKind,
  stored: readonly Described[],
  files: readonly ReceivedFile[],
  texts: readonly { flavor: string; filename: string; content: string }[],
): DraftContents {
  const elements = files.map(({ field: _, ...file }, i) => {
    const { flavor = '', tags = [] } = stored[i] ?? {};
    return { ...file, id: randomUUID(), flavor, tags };
  });
  const isTrack = ({ flavor }: { flavor: string }) => kind === 'track' || isCaptions(flavor);
  return {
    tracks: elements.filter(isTrack),
    attachments: elements.filter((element) => !isTrack(element)),
    catalogs: texts.map((text) => ({ ...text, id: randomUUID() })),
  };
}

/** Returns true for elements that are parsed as text. */
function isText(kind: ElementKind, flavor: string): boolean {
  return isPolicy(flavor) || (kind === 'catalog' && !isCaptions(flavor));
}

function isCaptions(flavor: string): boolean {
  return flavor.startsWith('captions/');
}
