import type { Context } from 'hono';
import type { Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { PACKAGE_DOOR } from '#ingest/begun-drafts.ts';
import { contentsOf, type DraftContents } from '#ingest/draft-contents.ts';
import type { AskedDraft, Draft } from '#ingest/drafts.ts';
import type { UploadGate, WhenFull } from '#ingest/gate.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database, Queryable } from '#platform/database/kysely.ts';
import type { ObjectStorage } from '#platform/storage/port.ts';
import type { StagingLedger } from '#platform/storage/staging.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import { isPolicy } from './package-catalogs.ts';
import { packageXml, type ShownElement } from './package-xml.ts';

/**
 * The kind of drafts that hold media packages. Agents and recorders build a package over several requests and then
 * ingest it. Of the package that a client sends back, only the identifier is trusted.
 */
export const DOOR = PACKAGE_DOOR;

export const PACKAGE_MEDIA_TYPE = 'text/xml; charset=utf-8';

/** Roles that may deliver media packages. */
export const SUBMITTERS = [ROLE_CAPTURE_AGENT, 'ROLE_STUDIO', 'ROLE_API_EVENTS_CREATE'];

/** The wait for a free upload slot. It is as long as possible, because agents do not repeat rejected uploads. */
export const TURN: WhenFull = { waitMs: 10 * 60_000 };

export interface PackageServices {
  config: Pick<
    Config,
    'publicUrl' | 'maxUploadBytes' | 'uploadIdleMs' | 'draftExpiryMs' | 'scheduling' | 'ingestUrlHosts'
  >;
  database: Database;
  storage: ObjectStorage;
  staging: StagingLedger;
  gate: UploadGate;
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
  const contents = await contentsOf(db, id);
  return packageXml({ id, start: createdAt, ...shownContents(id, contents, publicUrl) });
}

/** Returns the contents of a media package for clients. */
export function shownContents(packageId: string, { tracks, attachments, catalogs }: DraftContents, publicUrl: string) {
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
