import type { Principal } from '#access/principal.ts';
import { processingOf } from '#capture/schedules/schedules.queries.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { WorkflowDefinitions } from '#processing/definitions.ts';
import type { Processing } from '#processing/processing.ts';
import type { Recipient } from './recipient.ts';

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

const PREFIX = 'org.opencastproject.workflow.config.';
/** Fields of a form that are no values of the workflow's configuration. */
export const NO_PROPERTIES: ReadonlySet<string> = new Set([
  'mediaPackage',
  'workflowDefinitionId',
  'workflowInstanceId',
]);

/** What is to be done with a recording: as its event's schedule says, and what the client says over it. */
export async function processingFor(
  trx: Transaction,
  { workflow = '', properties }: Pick<Delivery, 'workflow' | 'properties'>,
  recipient: Recipient | undefined,
  { definitions, log }: { definitions: WorkflowDefinitions; log: Logger },
): Promise<Processing> {
  const scheduled = recipient && (await processingOf(trx, recipient.id));
  const wanted = workflow.trim() || (scheduled?.workflow ?? '');
  if (wanted !== '' && !definitions.knows(wanted)) {
    log.warn({ workflow: wanted }, 'no workflow has this name; the usual one runs');
  }
  return { workflow: wanted, configuration: { ...scheduled?.configuration, ...properties } };
}

/** The values of the workflow's configuration in a form, with or without their prefix. */
export function propertiesIn(
  fields: ReadonlyMap<string, string>,
  others: ReadonlySet<string> = NO_PROPERTIES,
): Record<string, string> {
  const values = [...fields]
    .filter(([name]) => !others.has(name))
    .map(([name, value]) => [name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, value]);
  return Object.fromEntries(values);
}
