import type { Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import type { DoorServices } from '#ingest/accept.ts';
import type { AskedDraft } from '#ingest/drafts.ts';
import { PACKAGE_DOOR } from '#ingest/unfinished-drafts.ts';
import type { Config } from '#platform/config/config.ts';

/** Roles that may deliver media packages. */
export const SUBMITTERS = [ROLE_CAPTURE_AGENT, 'ROLE_STUDIO', 'ROLE_API_EVENTS_CREATE'];

/** The wait for a free upload slot. It is as long as possible, because agents do not repeat rejected uploads. */
export const SLOT_WAIT_MS = 10 * 60_000;

export interface PackageServices extends DoorServices {
  config: DoorServices['config'] & Pick<Config, 'publicUrl' | 'draftExpiryMs' | 'scheduling' | 'ingestUrlHosts'>;
}

/**
 * Returns the reference to the draft that holds a media package, for an account. Agents and recorders build a package
 * over several requests and then ingest it. Of the package that a client sends back, only the identifier is trusted.
 */
export function packageOf(id: string, principal: Principal): AskedDraft {
  return { id, door: PACKAGE_DOOR, principal };
}
