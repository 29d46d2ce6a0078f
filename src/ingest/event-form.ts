import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type AclEntry, LenientAcl, NewAcl, parseAcl, parseNewAcl, UNPARSABLE_ACL } from '#access/acl/acl.ts';
import type { RequestContent } from '#access/idempotency/idempotency.ts';
import { parseSchedulingChange, planRecordings, type RecordingPlan } from '#capture/schedules/parse-scheduling.ts';
import { UNPARSABLE_SCHEDULING } from '#capture/states/scheduling-errors.ts';
import { chosenIdentifier, newEventColumns } from '#catalogue/events/event-columns.ts';
import { EVENT_FIELDS } from '#catalogue/events/event-examples.ts';
import type { NewTrack } from '#catalogue/events/event-files.ts';
import { NO_WORKFLOW } from '#catalogue/events/event-refusals.ts';
import { EVENT_CHANGES } from '#catalogue/events/event-versions.ts';
import type { EventEdits } from '#catalogue/events/update/event-edits.ts';
import type { CatalogValues } from '#metadata/catalog.ts';
import type { CatalogSet, Catalogs } from '#metadata/catalogs.ts';
import { CatalogsRequest } from '#metadata/metadata.schemas.ts';
import { sentFields } from '#metadata/metadata-declarations.ts';
import {
  FIELD_REQUIRED,
  FIELD_UNKNOWN,
  FLAVOR_MISSING,
  FLAVOR_UNKNOWN,
  UNPARSABLE_METADATA,
} from '#metadata/metadata-refusals.ts';
import { parseCatalogs, requireValues } from '#metadata/parse-metadata.ts';
import type { Config } from '#platform/config/config.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { type ApiVersion, atLeast } from '#platform/http/answer/version.ts';
import { jsonText } from '#platform/http/endpoint/endpoint-schemas.ts';
import { badRequest, type HttpError, refusal } from '#platform/http/errors/errors.ts';
import { Processing as ProcessingJson } from '#processing/processing.schemas.ts';
import { type Processing, parseProcessing, UNPARSABLE_PROCESSING } from '#processing/processing-request.ts';
import { INVALID_HEIGHTS } from '#processing/workflow-refusals.ts';
import type { NewTarget } from './intake.ts';
import type { FormDigest } from './receive-form.ts';
import type { ReceivedFile } from './staged-files.ts';

/** The flavor of a track by its form field. Files in other fields are not stored. */
export const FLAVORS = {
  presenter: 'presenter/source',
  presentation: 'presentation/source',
  audio: 'presenter-audio/source',
} as const;

export function flavorOf(field: string): string {
  return FLAVORS[field as keyof typeof FLAVORS];
}

/** The JSON parts of the form, except `scheduling`, which differs for a new event. */
export const jsonParts = {
  acl: jsonText(LenientAcl, 'The access control list.'),
  metadata: jsonText(CatalogsRequest, 'Metadata by catalog.'),
  processing: jsonText(ProcessingJson, 'The workflow and its configuration.'),
};
export const newJsonParts = { ...jsonParts, acl: jsonText(NewAcl, 'The access control list.') };

/** The file parts of the form, for the OpenAPI document. */
export const fileParts = {
  presenter: recording('A recording of the speaker.'),
  presentation: recording('A recording of the slides.'),
  audio: z.string().optional().meta({ description: 'A recording of the voice.', contentMediaType: 'audio/*' }),
} satisfies Record<keyof typeof FLAVORS, z.ZodType>;

export const exampleParts = {
  acl: JSON.stringify([
    { allow: true, action: 'read', role: 'ROLE_STUDENT' },
    { allow: true, action: 'write', role: 'ROLE_LECTURER' },
  ]),
  metadata: JSON.stringify([{ flavor: 'dublincore/episode', fields: sentFields(EVENT_FIELDS) }]),
};

/** Refusals of unreadable parts. */
export const PART_REFUSALS = [
  UNPARSABLE_ACL,
  UNPARSABLE_METADATA,
  FLAVOR_MISSING,
  FLAVOR_UNKNOWN,
  FIELD_UNKNOWN,
  FIELD_REQUIRED,
  UNPARSABLE_PROCESSING,
  INVALID_HEIGHTS,
];

/** The parts of an event's form, without files. Absent parts change nothing. */
interface EventParts {
  /** Null for a new event without its own list. */
  acl: AclEntry[] | null | undefined;
  catalogs: Map<string, CatalogValues> | undefined;
  processing: Processing | undefined;
  /** Unparsed, because its schema differs between new and existing events. */
  scheduling: string | undefined;
}

interface PartOptions {
  catalogs: CatalogSet;
  version: ApiVersion;
}

/**
 * Reads the parts `acl`, `metadata`, `processing` and `scheduling`; an empty one counts as absent. Version 1.0.0
 * ignores `scheduling`.
 *
 * @param options.unknown the refusal of a metadata field that its catalog lacks
 * @throws {HttpError} 400 with the sentences clients know (compatibility 3.5, order 0)
 */
function parseEventParts(
  fields: ReadonlyMap<string, string>,
  options: PartOptions & { purpose: 'create' | 'update'; unknown?: Parameters<typeof parseCatalogs>[3] },
): EventParts {
  const part = (name: string) => fields.get(name)?.trim() || undefined;
  const aclOf = options.purpose === 'create' ? parseNewAcl : parseAcl;
  const [acl, metadata, processing] = [part('acl'), part('metadata'), part('processing')];
  const scheduling = atLeast(options.version, EVENT_CHANGES.scheduling) ? part('scheduling') : undefined;
  return {
    acl: acl === undefined ? undefined : aclOf(acl),
    catalogs:
      metadata === undefined ? undefined : parseCatalogs(metadata, options.catalogs, options.purpose, options.unknown),
    processing: processing === undefined ? undefined : parseProcessing(processing),
    scheduling,
  };
}

/** Reads the form of an event update. @throws {HttpError} 400 with the sentences clients know (compatibility 3.6) */
export function parseEdits(
  fields: ReadonlyMap<string, string>,
  { gapMs, ...options }: PartOptions & { gapMs: number; unknown: () => HttpError },
): EventEdits {
  const { catalogs } = options;
  const parts = parseEventParts(fields, { ...options, purpose: 'update' });
  const change =
    parts.scheduling === undefined ? undefined : parseSchedulingChange(parts.scheduling, UNPARSABLE_SCHEDULING);
  return {
    metadata: parts.catalogs && { kind: 'written back', given: parts.catalogs, catalogs },
    acl: parts.acl ? { kind: 'replace', entries: parts.acl } : undefined,
    scheduling: change && { change, gapMs, allowConflict: false },
    processing: parts.processing,
  };
}

/** Returns the tracks in an event's form, in the order of their parts. */
export function tracksOf(files: readonly ReceivedFile[]): NewTrack[] {
  return files.map(({ field, ...file }) => ({ ...file, id: randomUUID(), flavor: flavorOf(field) }));
}

/** Returns the content that distinguishes one request for new events from another. */
export function contentOf({ fields, files }: FormDigest): RequestContent {
  const sent = files.map(({ field, filename, size, sha256 }) => ({ name: flavorOf(field), filename, size, sha256 }));
  return { fields, files: sent };
}

function recording(whose: string) {
  return z
    .string()
    .optional()
    .meta({
      description: `${whose} A part with a file name; any container and codec.`,
      contentMediaType: 'video/*',
    });
}

const NO_ACL = refusal(400, 'No access control list available to create new event.');
const NO_METADATA = refusal(400, 'No metadata list available to create new event.');
const NO_PROCESSING = refusal(400, 'No processing metadata available to create new event.');
export const MISSING_PARTS = [NO_ACL, NO_METADATA, NO_PROCESSING, NO_WORKFLOW];

/** The maximum number of ACL entries of all events of one request. */
const MAX_ENTRIES = 100_000;
/** The maximum number of characters of each part for all events of one request. */
const MAX_CHARACTERS = 2_000_000;
const COPIED = ['metadata', 'processing', 'scheduling'];

interface NewEventServices {
  catalogs: Pick<Catalogs, 'event'>;
  database: Queryable;
  config: Pick<Config, 'scheduling'>;
}

/**
 * Reads the form fields of new events. Contents are validated before completeness, as the reference does
 * (compatibility 3.5). Other fields are ignored; an empty one counts as absent.
 *
 * @throws {HttpError} 400 with the sentences clients know
 */
export async function parseNewEvents(
  fields: ReadonlyMap<string, string>,
  version: ApiVersion,
  { catalogs: { event: catalogs }, database, config: { scheduling: limits } }: NewEventServices,
): Promise<NewTarget> {
  const options = { catalogs, version, database, maxOccurrences: limits.maxOccurrences };
  const parts = parseEventParts(fields, { ...options, purpose: 'create' });
  const { acl, processing, scheduling } = parts;
  const episode = parts.catalogs?.get(catalogs.common.flavor) ?? new Map();
  const id = chosenIdentifier(episode);
  const columns = newEventColumns(episode, new Date());
  const recordings = scheduling === undefined ? undefined : await planRecordings(scheduling, options);
  if (acl === undefined) throw NO_ACL();
  if (!parts.catalogs) throw NO_METADATA();
  if (!processing) throw NO_PROCESSING();
  if (!processing.workflow) throw NO_WORKFLOW();
  requireValues(parts.catalogs, catalogs);
  if (recordings) requireReasonable(recordings, { acl: acl ?? [], fields });
  const extended = new Map([...parts.catalogs].filter(([flavor]) => flavor !== catalogs.common.flavor));
  const events = { id, columns, catalogs: extended, acl, processing, recordings };
  return { kind: 'new', events, gapMs: limits.minGapMs };
}

/** Refuses parts that are too large to be copied to every event of a recurring schedule. */
function requireReasonable(
  { periods }: RecordingPlan,
  { acl, fields }: { acl: readonly AclEntry[]; fields: ReadonlyMap<string, string> },
): void {
  if (periods.length === 1) return;
  if (acl.length * periods.length > MAX_ENTRIES) {
    throw badRequest(
      `The part 'acl' has ${acl.length} entries for each of ${periods.length} events; the maximum for all events together is ${MAX_ENTRIES} entries.`,
    );
  }
  for (const name of COPIED) {
    const characters = fields.get(name)?.trim().length ?? 0;
    if (characters * periods.length <= MAX_CHARACTERS) continue;
    throw badRequest(
      `The part '${name}' has ${characters} characters for each of ${periods.length} events; the maximum for all events together is ${MAX_CHARACTERS} characters.`,
    );
  }
}
