import type { Context } from 'hono';
import { parseForeignAcl } from '#access/acl/foreign-acl.ts';
import type { Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { quoted } from '#capture/agents/agent-names.ts';
import { type DraftContents, readContents } from '#ingest/draft-contents.ts';
import type { AskedDraft, Draft } from '#ingest/drafts.ts';
import { PACKAGE_DOOR } from '#ingest/unfinished-drafts.ts';
import type { LimitPolicy, UploadLimiter } from '#ingest/upload-limiter.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet, Catalogs } from '#metadata/catalogs.ts';
import { readDublinCore } from '#metadata/dublincore.ts';
import { xmlText } from '#metadata/xml-text.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import { HttpError, refusal } from '#platform/http/errors/errors.ts';
import { CUTTING, InvalidCutting, parseCutting } from '#platform/media/cutting.ts';
import type { ObjectStorage } from '#platform/storage/object-storage.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import { InvalidXml, parseXml, type XmlElement } from '#platform/text/xml.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';

/**
 * The kind of drafts that hold media packages. Agents and recorders build a package over several requests and then
 * ingest it. Of the package that a client sends back, only the identifier is trusted.
 */
export const DOOR = PACKAGE_DOOR;

export const PACKAGE_MEDIA_TYPE = 'text/xml; charset=utf-8';

/** Roles that may deliver media packages. */
export const SUBMITTERS = [ROLE_CAPTURE_AGENT, 'ROLE_STUDIO', 'ROLE_API_EVENTS_CREATE'];

/** The wait for a free upload slot. It is as long as possible, because agents do not repeat rejected uploads. */
export const TURN: LimitPolicy = { waitMs: 10 * 60_000 };

export interface PackageServices {
  config: Pick<
    Config,
    'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs' | 'draftExpiryMs' | 'scheduling' | 'ingestUrlHosts'
  >;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  gate: UploadLimiter;
  catalogs: Pick<Catalogs, 'event'>;
  definitions: WorkflowDefinitions;
}

/** Returns the reference to a draft, for an account. */
export function packageOf(id: string, principal: Principal): AskedDraft {
  return { id, door: DOOR, principal };
}

/** Returns a media package as XML for clients. */
export async function shownPackage(
  db: Queryable,
  { id, createdAt }: Pick<Draft, 'id' | 'createdAt'>,
  publicUrl: string,
): Promise<string> {
  const contents = await readContents(db, id);
  return packageXml({ id, start: createdAt, ...shownContents(id, contents, publicUrl) });
}

/** Returns the contents of a media package for clients. */
function shownContents(packageId: string, { tracks, attachments, catalogs }: DraftContents, publicUrl: string) {
  // Clients expect a URL for each element but never request it.
  const base = `${publicUrl}/files/mediapackage/${encodeURIComponent(packageId)}`;
  const shown = <Part extends { id: string; filename: string } & Omit<ShownElement, 'url'>>(part: Part) => ({
    ...part,
    url: `${base}/${part.id}/${encodeURIComponent(part.filename)}`,
  });
  // Recorders send access control lists as attachments and expect them there.
  const policies = catalogs.filter(({ flavor }) => isPolicy(flavor));
  return {
    tracks: tracks.map(shown),
    attachments: [...attachments.map(shown), ...policies.map(shown)],
    catalogs: catalogs.filter((catalog) => !policies.includes(catalog)).map(shown),
  };
}

/** Returns a response with the media type that clients expect. */
export function answerPackage(c: Context, xml: string): Response {
  return c.body(xml, 200, { 'Content-Type': PACKAGE_MEDIA_TYPE });
}

const NAMESPACE = 'http://mediapackage.opencastproject.org';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

interface ShownPackage {
  id: string;
  start: Date;
  tracks: readonly ShownElement[];
  attachments: readonly ShownElement[];
  catalogs: readonly ShownElement[];
}

/** An element of a media package. */
interface ShownElement {
  id: string;
  flavor: string;
  url: string;
  mediatype?: string;
  tags?: readonly string[];
  /** In bytes. */
  size?: number;
}

/**
 * Formats a media package as XML. Clients parse it with `awk`: it is one line, without prefixes, and identifiers are
 * first attributes.
 */
function packageXml(shown: ShownPackage): string {
  return `${DECLARATION}<mediapackage id="${xmlText(shown.id)}" start="${shown.start.toISOString()}" xmlns="${NAMESPACE}">${parts(shown, '')}</mediapackage>`;
}

export interface ShownWorkflow {
  /** 0 for a workflow that has not started. */
  id: number;
  state: string;
  definition: string;
  title: string;
}

/** Formats the answer to an ingest. Clients search for its prefixes literally. */
export function workflowXml({ id, state, definition, title }: ShownWorkflow, shown: ShownPackage): string {
  return `${DECLARATION}<wf:workflow id="${id}" state="${xmlText(state)}" xmlns:wf="http://workflow.opencastproject.org" xmlns:mp="${NAMESPACE}"><wf:template>${xmlText(definition)}</wf:template><wf:title>${xmlText(title)}</wf:title><mp:mediapackage id="${xmlText(shown.id)}" start="${shown.start.toISOString()}">${parts(shown, 'mp:')}</mp:mediapackage></wf:workflow>`;
}

function parts({ tracks, catalogs, attachments }: ShownPackage, prefix: string): string {
  return [
    group('media', 'track', tracks, prefix),
    group('metadata', 'catalog', catalogs, prefix),
    group('attachments', 'attachment', attachments, prefix),
  ].join('');
}

function group(name: string, kind: string, elements: readonly ShownElement[], prefix: string): string {
  const inner = elements.map((each) => element(kind, each, prefix)).join('');
  return `<${prefix}${name}>${inner}</${prefix}${name}>`;
}

function element(
  kind: string,
  { id, flavor, mediatype = 'text/xml', tags = [], url, size }: ShownElement,
  prefix: string,
): string {
  const field = (name: string, value: string) => `<${prefix}${name}>${value}</${prefix}${name}>`;
  const inner = [
    field('mimetype', xmlText(mediatype)),
    field('tags', tags.map((tag) => field('tag', xmlText(tag))).join('')),
    field('url', xmlText(url)),
    size === undefined ? '' : field('size', String(size)),
  ];
  return `<${prefix}${kind} id="${xmlText(id)}" type="${xmlText(flavor)}">${inner.join('')}</${prefix}${kind}>`;
}

/** Examples for the reference. */
export const EXAMPLE_ID = '4c9f3f8e-2d6b-4a57-9b1e-7f0c5a3d2e61';

const SHOWN = {
  id: EXAMPLE_ID,
  start: new Date('2026-10-12T08:15:00Z'),
  tracks: [
    {
      id: '5b1c7a53-6b1f-4c0e-9d55-2f8e3a1b7c90',
      flavor: 'presenter/source',
      mediatype: 'video/mp4',
      tags: [],
      url: `https://inlet.example.org/files/mediapackage/${EXAMPLE_ID}/5b1c7a53-6b1f-4c0e-9d55-2f8e3a1b7c90/camera.mp4`,
      size: 48_210_433,
    },
  ],
  attachments: [],
  catalogs: [],
};

export const EXAMPLE_PACKAGE = packageXml(SHOWN);
export const EXAMPLE_WORKFLOW = workflowXml(
  {
    id: 42,
    state: 'INSTANTIATED',
    definition: 'schedule-and-upload',
    title: 'Process upon upload and schedule',
  },
  SHOWN,
);

export const ECHO = { mediaPackage: packageXml({ ...SHOWN, tracks: [] }) };

export const EXAMPLE_DUBLIN_CORE = `<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:title>Algebra I</dcterms:title></dublincore>`;

export const EPISODE = 'dublincore/episode';
/** The access control list of an event. */
export const EPISODE_POLICY = 'security/xacml+episode';
const POLICY = /^security\/xacml(\+|$)/;
const NUL = '\0';

export const UNREADABLE_CATALOG = refusal(
  400,
  (flavor: string, reason: string) => `The catalog with flavor ${quoted(flavor)} is invalid: ${reason}.`,
  [EPISODE, 'it is not well-formed XML'],
);

/** Returns true for the flavor of an access control list, which is text however it is sent. */
export function isPolicy(flavor: string): boolean {
  return POLICY.test(flavor);
}

/** Rejects a catalog that could not be used later. @throws {HttpError} 400 */
export function checkCatalog(flavor: string, content: string, catalogs: CatalogSet): void {
  if (content.includes(NUL)) throw UNREADABLE_CATALOG(flavor, 'it contains a NUL character');
  if (isPolicy(flavor)) parseForeignAcl(content);
  else if (flavor === CUTTING) checkCutting(content);
  else if (catalogs.find(flavor)) valuesIn(flavor, content, catalogs);
}

/** Returns true if a catalog can be used later. */
export function isReadable(flavor: string, content: string, catalogs: CatalogSet): boolean {
  try {
    checkCatalog(flavor, content, catalogs);
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

function checkCutting(content: string): void {
  try {
    parseCutting(content);
  } catch (error) {
    throw error instanceof InvalidCutting ? UNREADABLE_CATALOG(CUTTING, error.message) : error;
  }
}

/** Returns the known metadata of a catalog. @throws {HttpError} 400 */
export function valuesIn(flavor: string, content: string, catalogs: CatalogSet): CatalogValues {
  const catalog = catalogs.find(flavor) ?? catalogs.common;
  const root = rootOf(flavor, content);
  const values = readDublinCore(root, catalog, (reason) => UNREADABLE_CATALOG(flavor, reason));
  if (root.name !== 'dublincore' && values.size === 0) {
    throw UNREADABLE_CATALOG(flavor, `<${root.name}> contains no Dublin Core term`);
  }
  return values;
}

/** Parses a catalog. @throws {HttpError} 400 */
export function rootOf(flavor: string, content: string): XmlElement {
  return parseOrRefuse(content, (reason) => UNREADABLE_CATALOG(flavor, reason));
}

/** Parses XML that a client sent. @throws the error that `refuse` returns */
export function parseOrRefuse(text: string, refuse: (reason: string) => HttpError): XmlElement {
  try {
    return parseXml(text);
  } catch (error) {
    throw error instanceof InvalidXml ? refuse(error.message) : error;
  }
}

/** Decodes percent-encoding. Returns invalid text unchanged. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
