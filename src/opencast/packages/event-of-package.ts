import { effectiveAclOf, mayAccess } from '#access/acl/acl.queries.ts';
import type { AclEntry } from '#access/acl/acl.ts';
import { parseForeignAcl } from '#access/acl/foreign-acl.ts';
import type { Principal } from '#access/principal.ts';
import { ROLE_CAPTURE_AGENT, userRole } from '#access/roles/roles.ts';
import { processingOf } from '#capture/schedules/timetable.queries.ts';
import type { NewEvents } from '#catalogue/events/create-events.ts';
import { episodeValues, newEventColumns } from '#catalogue/events/event-columns.ts';
import type { NewDocument } from '#catalogue/events/event-files.ts';
import type { EventEdits } from '#catalogue/events/update/event-edits.ts';
import type { DraftContents } from '#ingest/draft-contents.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import { storedCatalogs } from '#metadata/catalogs.queries.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { textIn } from '#metadata/core-fields.ts';
import type { Transaction } from '#platform/database/kysely.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import type { Logger } from '#platform/telemetry/log.ts';
import type { WorkflowDefinitions } from '#processing/load-definitions.ts';
import type { Processing } from '#processing/processing-request.ts';
import { EPISODE_POLICY, isPolicy, valuesIn } from './package-catalogs.ts';
import { validIdentifier } from './package-form.ts';
import type { Recipient } from './recipient.ts';

/** A media package to ingest. */
export interface Delivery {
  draftId: string;
  /** Identifier for the event, which may exist. */
  packageId: string;
  /** Identifier of the event in the calendar, if any. */
  instanceId?: string | undefined;
  /** Empty for the workflow of the schedule, or the default one, which also replaces unknown ones. */
  workflow?: string | undefined;
  properties: Readonly<Record<string, string>>;
  /** Rejects a new event without a title. */
  needsTitle?: boolean;
}

/** The account that delivers a media package, and its request. */
export interface Submitter {
  principal: Principal;
  requestId: string;
  log: Logger;
}

const PREFIX = 'org.opencastproject.workflow.config.';
/** Form fields that are not part of the workflow's configuration. */
export const NO_PROPERTIES: ReadonlySet<string> = new Set([
  'mediaPackage',
  'workflowDefinitionId',
  'workflowInstanceId',
]);

/** Returns the processing of a recording: that of its schedule, overridden by that of the client. */
export async function processingFor(
  trx: Transaction,
  { workflow = '', properties }: Pick<Delivery, 'workflow' | 'properties'>,
  recipient: Recipient | undefined,
  { definitions, log }: { definitions: WorkflowDefinitions; log: Logger },
): Promise<Processing> {
  const scheduled = recipient && (await processingOf(trx, recipient.id));
  const wanted = workflow.trim() || (scheduled?.workflow ?? '');
  if (wanted !== '' && !definitions.knows(wanted)) {
    log.warn({ workflow: wanted }, 'unknown workflow; the default one runs');
  }
  return { workflow: wanted, configuration: { ...scheduled?.configuration, ...properties } };
}

/**
 * Returns the delivery options of a form. All fields but `others` configure the workflow, with or without a prefix.
 *
 * @param workflow from the path; it has precedence over the form
 */
export function deliveryIn(
  fields: ReadonlyMap<string, string>,
  workflow: string | undefined,
  others: ReadonlySet<string> = NO_PROPERTIES,
): Pick<Delivery, 'instanceId' | 'workflow' | 'properties'> {
  const properties = [...fields]
    .filter(([name]) => !others.has(name))
    .map(([name, value]) => [name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, value]);
  return {
    instanceId: fields.get('workflowInstanceId')?.trim(),
    workflow: workflow ?? fields.get('workflowDefinitionId'),
    properties: Object.fromEntries(properties),
  };
}

/** Returns the catalogs that the event stores unchanged. */
export function documentsOf({ catalogs }: DraftContents, known: CatalogSet): NewDocument[] {
  return catalogs.filter(({ flavor }) => !isPolicy(flavor) && !known.find(flavor));
}

/** Returns the metadata of the extended catalogs, by flavor. */
function extendedValues({ catalogs }: DraftContents, known: CatalogSet): Map<string, CatalogValues> {
  const extended = catalogs.flatMap(({ flavor, content }) => {
    const catalog = known.find(flavor);
    return catalog && catalog !== known.common ? [[catalog.flavor, valuesIn(flavor, content, known)] as const] : [];
  });
  return new Map(extended);
}

/**
 * Returns the edits of a recording to its event: only catalogs that the event lacks. All other metadata was read from
 * the calendar, and people may have changed it since.
 */
export async function editsOf(
  trx: Transaction,
  eventId: string,
  contents: DraftContents,
  known: CatalogSet,
): Promise<Omit<EventEdits, 'tracks'>> {
  const brought = extendedValues(contents, known);
  if (brought.size === 0) return {};
  const stored = (await storedCatalogs(trx, 'events', [eventId])).get(eventId);
  const given = new Map([...brought].filter(([flavor]) => !stored?.has(flavor)));
  return given.size === 0 ? {} : { metadata: { kind: 'values', given, catalogs: known } };
}

export const NO_TITLE = refusal(
  400,
  "The event has no title. Send the form parameter 'title' or a dublincore/episode catalog with a title.",
);

/** Returns the new event of a media package. */
export async function newEventOf(
  trx: Transaction,
  delivery: Delivery,
  contents: DraftContents,
  processing: Processing,
  { by, catalogs }: { by: Submitter; catalogs: CatalogSet },
): Promise<NewEvents> {
  const episode = contents.catalogs.find(({ flavor }) => flavor === catalogs.common.flavor);
  const values = episode ? valuesIn(episode.flavor, episode.content, catalogs) : new Map();
  if (textIn(values, 'title') === '') {
    if (delivery.needsTitle) throw NO_TITLE();
    values.set('title', `Recording of ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`);
  }
  // The default start is the time of creation.
  if (textIn(values, 'startDate') === '') values.set('startDate', textIn(values, 'created'));
  await clearUnknownSeries(trx, values, by);
  const policy = contents.catalogs.find(({ flavor }) => flavor === EPISODE_POLICY);
  return {
    id: await freeIdentifier(trx, delivery.packageId),
    columns: newEventColumns(values, new Date()),
    catalogs: extendedValues(contents, catalogs),
    acl: policy ? parseForeignAcl(policy.content) : defaultAcl(values, by.principal),
    processing,
    recordings: undefined,
  };
}

/** Returns a new event for another part of a recording. It has all metadata of the first event but its title. */
export async function furtherEventOf(
  trx: Transaction,
  { id }: Recipient,
  part: number,
  packageId: string,
  processing: Processing,
): Promise<NewEvents> {
  const event = await trx.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { entries, own } = await effectiveAclOf(trx, event);
  const values = episodeValues(event);
  values.set('title', `${event.title} (part ${part})`);
  values.set('identifier', '');
  return {
    id: await freeIdentifier(trx, packageId),
    columns: newEventColumns(values, new Date()),
    catalogs: (await storedCatalogs(trx, 'events', [id])).get(id) ?? new Map(),
    acl: own ? entries : null,
    processing,
    recordings: undefined,
  };
}

/** Returns the identifier of the package unless it is taken or invalid for an event. */
async function freeIdentifier(trx: Transaction, packageId: string): Promise<string | undefined> {
  const taken = await trx.selectFrom('events').select('id').where('id', '=', packageId).executeTakeFirst();
  return taken ? undefined : validIdentifier(packageId);
}

/** Removes a series that does not exist or that the account may not see, so that the recording is not lost. */
async function clearUnknownSeries(
  trx: Transaction,
  values: CatalogValues,
  { principal, log }: Submitter,
): Promise<void> {
  const seriesId = textIn(values, 'isPartOf');
  if (seriesId === '') return;
  const agent = principal.hasRole(ROLE_CAPTURE_AGENT);
  const series = trx.selectFrom('series').select('id').where('id', '=', seriesId);
  const known = await (agent ? series : series.where(mayAccess('series', principal, 'read'))).executeTakeFirst();
  if (known) return;
  log.warn({ seriesId }, 'a recording names a series that its account cannot see; it is stored without a series');
  values.set('isPartOf', '');
}

/** Returns the default access control list: that of the series, else read and write for the account. */
function defaultAcl(values: CatalogValues, { username }: Principal): AclEntry[] | null {
  if (textIn(values, 'isPartOf') !== '') return null;
  const role = userRole(username);
  return ['read', 'write'].map((action) => ({ allow: true, action, role }));
}
