import { type DraftContents, readContents } from '#ingest/draft-contents.ts';
import type { Draft } from '#ingest/drafts.ts';
import { xmlText } from '#metadata/xml-text.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { isPolicy } from './package-catalogs.ts';

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
