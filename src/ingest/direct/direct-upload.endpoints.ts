import type { Context } from 'hono';
import { z } from 'zod';
import type { Directory } from '#access/accounts/directory.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { withScheduleConflicts } from '#capture/schedules/schedule-conflicts.ts';
import { IDENTIFIER_TAKEN, NO_SUCH_SERIES } from '#catalogue/events/event-refusals.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Config } from '#platform/config/config.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL, Instant, pathParameter } from '#platform/http/endpoint/endpoint-schemas.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { accept } from '../accept.ts';
import { DRAFT_GONE, discardDraft } from '../drafts.ts';
import { exampleParts, MISSING_PARTS, newJsonParts, PART_REFUSALS, parseNewEvents } from '../event-form.ts';
import type { Intake } from '../intake.ts';
import type { CompletionParts } from './direct-completion.ts';
import { LIMIT_REFUSALS, parseLimits } from './direct-limits.ts';
import {
  type Author,
  type DirectUpload,
  directDraft,
  EVENT_MADE,
  findDirectUpload,
  openDirectUpload,
  UPLOAD_URL_PREFIX,
} from './direct-uploads.ts';

const PATH = '/api/uploads';
/** The form fields from which the event is created. */
const EVENT_FIELDS = Object.keys(newJsonParts);
const DIRECT_UPLOAD_ID = '7a3c5f0e-2b1d-4c8e-9f60-5d4a3b2c1e0f';

const NO_DIRECT_UPLOAD = refusal(404, (id: string) => `The direct upload '${id}' does not exist.`, [DIRECT_UPLOAD_ID]);

type Services = CompletionParts & {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadExpiryMs' | 'scheduling'>;
  directory: Directory;
};

const STATES = ['waiting', 'uploading', 'finished', 'failed', 'expired'] as const;

const LIMITS = {
  expires: Instant,
  max_bytes: z.int().describe('The maximum size of each file.'),
};
const FILE = {
  field: z.string().optional().describe('The requested form field, if any.'),
  flavor: z.string().describe('The flavor of the track.'),
};

const DirectUploadMade = z
  .object({
    identifier: z.string(),
    ...LIMITS,
    files: z.array(z.object({ ...FILE, url: z.url().describe('The upload URL, which is returned only once.') })),
  })
  .meta({ id: 'DirectUploadMade' });

const DirectUploadState = z
  .object({
    identifier: z.string(),
    state: z
      .enum(STATES)
      .describe('`waiting` until the first byte; `finished` if the event was created, `failed` if it could not be.'),
    ...LIMITS,
    files: z.array(
      z.object({
        ...FILE,
        filename: z.string().optional().describe('As the uploading client declares it; absent until then.'),
        length: z.int().nullable().describe('In bytes; null until the uploading client declares it.'),
        offset: z.int().describe('The number of durable bytes.'),
        upload_identifier: z
          .string()
          .optional()
          .describe(
            'Only after `failed`: a value for the form field `uploads` of `POST /api/events`, until it expires.',
          ),
      }),
    ),
    event_identifier: z.string().optional().describe('The created event.'),
    reason: z.string().optional().describe('The reason for `failed`.'),
  })
  .meta({ id: 'DirectUpload' });

const access = apiRole('EVENTS_CREATE');
const LIMITS_EXAMPLE = { expires: '2026-02-01T12:00:00Z', max_bytes: 10_737_418_240 };
const FILE_EXAMPLE = { field: 'presenter', flavor: 'presenter/source' };
const example: z.infer<typeof DirectUploadState> = {
  identifier: DIRECT_UPLOAD_ID,
  state: 'uploading',
  ...LIMITS_EXAMPLE,
  files: [{ ...FILE_EXAMPLE, filename: 'lecture.mp4', length: 1_073_741_824, offset: 524_288_000 }],
};

/** Returns URLs to which the browser of another site's user can upload. */
export const newDirectUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  operationId: 'postDirectUploads',
  access,
  summary: 'Create upload URLs',
  description:
    "For the files of an event that are sent without an account, such as by the browser of a learning platform's user. Each file gets a secret URL, which is returned only once, for the `uploadUrl` (with a deferred length) or the `endpoint` of a [tus](https://tus.io/) client. `acl`, `metadata` and `processing` are those of `POST /api/events`; they are validated immediately. The event is created after all files were received, on behalf of the requesting account.",
  form: {
    schema: z.object({
      ...newJsonParts,
      files: z
        .string()
        .optional()
        .describe(
          'The awaited files: form fields of `POST /api/events` separated by commas, or a JSON array of such names and of objects with a `field` or a `flavor`. The default is `presenter`.',
        ),
      maxBytes: z
        .string()
        .optional()
        .describe('The maximum size of each file in bytes. The maximum and the default are `MAX_UPLOAD_BYTES`.'),
      expires: z
        .string()
        .optional()
        .describe(
          'The lifetime of the URLs in seconds, or an ISO 8601 date and time with a time zone. Received bytes are then deleted. The maximum and the default are `UPLOAD_EXPIRY_HOURS`.',
        ),
    }),
    example: {
      ...exampleParts,
      processing: JSON.stringify({ workflow: 'schedule-and-upload' }),
      files: '["presenter","presentation"]',
      maxBytes: '10737418240',
      expires: '86400',
    },
  },
  answers: {
    201: {
      description: 'The upload URLs, which are returned only once.',
      body: DirectUploadMade,
      example: {
        identifier: DIRECT_UPLOAD_ID,
        ...LIMITS_EXAMPLE,
        files: [
          { ...FILE_EXAMPLE, url: `${EXAMPLE_URL}${UPLOAD_URL_PREFIX}/Zk3vXq0T1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi2Bb8sE` },
        ],
      },
      headers: createdHeaders(`${EXAMPLE_URL}${PATH}/${DIRECT_UPLOAD_ID}`),
    },
  },
  refusals: [...PART_REFUSALS, ...MISSING_PARTS, ...LIMIT_REFUSALS, NO_SUCH_SERIES, IDENTIFIER_TAKEN],
  handle: ask,
});

const ofOne = {
  path: `${PATH}/{direct_upload_id}`,
  access,
  params: { direct_upload_id: pathParameter('Identifier of the direct upload.', DIRECT_UPLOAD_ID) },
} as const;

export const readDirectUpload = defineEndpoint({
  ...ofOne,
  method: 'get',
  summary: 'Read a direct upload',
  description: 'For the account that requested it and for administrators, until seven days after it expires.',
  answers: { 200: { description: 'The state of the direct upload.', body: DirectUploadState, example } },
  refusals: [NO_DIRECT_UPLOAD],
  handle: async ({ c, params }, { database }: Services) => {
    const direct = await visible(c, database, params.direct_upload_id);
    return versionedJson(c, directUploadJson(direct), 200, { 'Cache-Control': 'no-store' });
  },
});

export const removeDirectUpload = defineEndpoint({
  ...ofOne,
  method: 'delete',
  summary: 'Revoke a direct upload',
  description: 'Its URLs stop working immediately, and received bytes are deleted. An event that was created remains.',
  answers: { 204: { description: 'The direct upload was deleted.' } },
  refusals: [NO_DIRECT_UPLOAD, DRAFT_GONE, EVENT_MADE],
  handle: async ({ c, params }, { database }: Services) => {
    const { id } = await visible(c, database, params.direct_upload_id);
    const { accepted } = await inTransaction(database, (trx) => discardDraft(trx, directDraft(id)));
    if (accepted) throw EVENT_MADE(accepted.eventId);
    return c.body(null, 204);
  },
});

async function ask(request: EndpointRequest, services: Services): Promise<Response> {
  const { c } = request;
  const { principal, signedIn, requestId, version } = c.var;
  const { config, database, directory } = services;
  const fields = await request.fields();
  const limits = parseLimits(fields, config, new Date());
  const target = await parseNewEvents(fields, version, services);
  await rehearse({ principal, requestId, target, tracks: [] }, services);
  const author = await authorOf(principal, directory);
  const sent = Object.fromEntries(EVENT_FIELDS.map((name) => [name, fields.get(name) ?? '']));
  const asked = { ...limits, author, requestId, fields: sent, version };
  const account = signedIn?.username ?? principal.username;
  const { id, tokens } = await inTransaction(database, (trx) => openDirectUpload(trx, account, asked));
  const made: z.infer<typeof DirectUploadMade> = {
    identifier: id,
    expires: formatInstant(limits.closesAt),
    max_bytes: limits.maxBytes,
    files: limits.files.map((file, i) => ({ ...file, url: `${config.publicUrl}${UPLOAD_URL_PREFIX}/${tokens[i]}` })),
  };
  const headers = { Location: `${config.publicUrl}${PATH}/${id}`, 'Cache-Control': 'no-store' };
  return versionedJson(c, made, 201, headers);
}

/** Validates an intake without writing anything. @throws {Error} as `accept` */
async function rehearse(intake: Intake, services: Services): Promise<void> {
  const rehearsed = new Error('Rolled back after validation.');
  await withScheduleConflicts(services.database, intake.principal, async (trx) => {
    await accept(trx, intake, services);
    throw rehearsed;
  }).catch((error) => {
    if (error !== rehearsed) throw error;
  });
}

/** Returns the author, with roles only if they differ from those in the directory, such as those of a token. */
async function authorOf(principal: Principal, directory: Directory): Promise<Author> {
  const { username, name, email, provider, roles } = principal;
  const known = await directory.findPrincipal(username);
  const same = known?.provider === provider && known.roles.symmetricDifference(new Set(roles)).size === 0;
  return { username, name, email, provider, ...(!same && { roles: [...roles] }) };
}

/** @throws {HttpError} 404 if another account owns it */
async function visible(c: Context, database: Queryable, id: string): Promise<DirectUpload> {
  const { principal, signedIn } = c.var;
  const direct = await findDirectUpload(database, id);
  const isOwn = direct?.owner === signedIn?.username;
  if (!direct || !(isOwn || principal.isAdmin())) throw NO_DIRECT_UPLOAD(id);
  return direct;
}

function directUploadJson(direct: DirectUpload): z.infer<typeof DirectUploadState> {
  const state = stateOf(direct);
  return {
    identifier: direct.id,
    state,
    expires: formatInstant(direct.closesAt),
    max_bytes: direct.request.maxBytes,
    files: direct.files.map(({ field, flavor, filename, length = null, offset, begun, uploadId }) => ({
      ...{ field, flavor, filename, length, offset },
      upload_identifier: state === 'failed' && begun ? uploadId : undefined,
    })),
    event_identifier: direct.accepted?.eventId,
    reason: direct.failure,
  };
}

function stateOf({ accepted, failure, isClosed, files }: DirectUpload): (typeof STATES)[number] {
  if (accepted) return 'finished';
  if (isClosed) return 'expired';
  if (failure !== undefined) return 'failed';
  return files.some(({ offset }) => offset > 0) ? 'uploading' : 'waiting';
}
