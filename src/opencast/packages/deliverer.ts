import type { Principal } from '#access/principal.ts';
import type { Logger } from '#platform/telemetry/log.ts';

/** A media package that is to be ingested. */
export interface Delivery {
  draftId: string;
  /** What the event is called, or is to be called if it is new; that of the package unless it is chosen. */
  packageId: string;
  /** What the calendar called the event; empty when it is not said. */
  instanceId?: string | undefined;
  /** Empty: what the event's schedule says, or the usual one; which also stands for one that nobody knows. */
  workflow?: string | undefined;
  /** Values of the workflow's configuration. */
  properties: Readonly<Record<string, string>>;
  /** Whether a new event without a title is refused. */
  needsTitle?: boolean;
}

/** Who delivers, with which request. */
export interface Deliverer {
  principal: Principal;
  requestId: string;
  log: Logger;
}
