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
 * The door of capture agents and recorders: they put a media package together over several requests, and then have it
 * ingested. A package is a draft until then; what a client sends back of it is trusted for its identifier alone.
 */
export const DOOR = PACKAGE_DOOR;

export const PACKAGE_MEDIA_TYPE = 'text/xml; charset=utf-8';

/** Who may bring media packages. */
export const SUBMITTERS = [ROLE_CAPTURE_AGENT, 'ROLE_STUDIO', 'ROLE_API_EVENTS_CREATE'];

/** An agent whose upload is refused does not try again: it waits for its turn, as long as that can be. */
export const TURN: WhenFull = { waitMs: 10 * 60_000 };

/** What the door works with. */
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

/** The draft of a media package, for whoever asks. */
export function packageOf(id: string, principal: Principal): AskedDraft {
  return { id, door: DOOR, principal };
}

/** A media package as the client is told of it. */
export async function shownPackage(
  db: Queryable,
  { id, createdAt }: Pick<Draft, 'id' | 'createdAt'>,
  publicUrl: string,
): Promise<string> {
  const contents = await contentsOf(db, id);
  return packageXml({ id, start: createdAt, ...shownContents(id, contents, publicUrl) });
}

/** What a media package holds, as the client is told of it. */
export function shownContents(packageId: string, { tracks, attachments, catalogs }: DraftContents, publicUrl: string) {
  // Clients want each part to have an address, and none of them asks for what is there.
  const base = `${publicUrl}/files/mediapackage/${encodeURIComponent(packageId)}`;
  const shown = <Part extends { id: string; filename: string } & Omit<ShownElement, 'url'>>(part: Part) => ({
    ...part,
    url: `${base}/${part.id}/${encodeURIComponent(part.filename)}`,
  });
  // Recorders send policies as attachments, and look for them there.
  const policies = catalogs.filter(({ flavor }) => isPolicy(flavor));
  return {
    tracks: tracks.map(shown),
    attachments: [...attachments.map(shown), ...policies.map(shown)],
    catalogs: catalogs.filter((catalog) => !policies.includes(catalog)).map(shown),
  };
}

/** Clients read it as bytes, and expect this type. */
export function answerPackage(c: Context, xml: string): Response {
  return c.body(xml, 200, { 'Content-Type': PACKAGE_MEDIA_TYPE });
}
