import type { Context } from 'hono';
import { z } from 'zod';
import type { Directory } from '#access/accounts/directory.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { explainingConflicts } from '#capture/schedules/conflicts.ts';
import { IDENTIFIER_TAKEN, NO_SUCH_SERIES } from '#catalogue/events/refusals.ts';
import { formatInstant } from '#metadata/time.ts';
import type { Config } from '#platform/config/config.ts';
import type { Queryable } from '#platform/database/kysely.ts';
import { inTransaction } from '#platform/database/retry.ts';
import { versionedJson } from '#platform/http/answer/version.ts';
import { defineEndpoint, type EndpointRequest } from '#platform/http/endpoint/endpoint.ts';
import { createdHeaders, EXAMPLE_URL, Instant, pathParameter } from '#platform/http/endpoint/schemas.ts';
import { refusal } from '#platform/http/errors/refusal.ts';
import { accept } from '../accept.ts';
import { DraftGone } from '../draft-refusals.ts';
import { discardDraft } from '../drafts.ts';
import { exampleParts, newJsonParts, PART_REFUSALS } from '../event-form.ts';
import type { Intake } from '../intake.ts';
import { MISSING_PARTS, parseNewEvents } from '../new-events.ts';
import { EVENT_MADE } from './address.endpoints.ts';
import type { CompletionParts } from './direct-completion.ts';
import { LIMIT_REFUSALS, parseLimits } from './direct-limits.ts';
import {
  ADDRESSES,
  type Author,
  type DirectUpload,
  directDraft,
  findDirectUpload,
  openDirectUpload,
} from './direct-uploads.ts';

const PATH = '/api/uploads';
/** Of the form, those from which the event is made. */
const EVENT_FIELDS = Object.keys(newJsonParts);
const DIRECT_UPLOAD_ID = '7a3c5f0e-2b1d-4c8e-9f60-5d4a3b2c1e0f';

const NO_DIRECT_UPLOAD = refusal(404, (id: string) => `There is no direct upload '${id}'.`, [DIRECT_UPLOAD_ID]);

type Services = CompletionParts & {
  config: Pick<Config, 'publicUrl' | 'maxUploadBytes' | 'uploadExpiryMs' | 'scheduling'>;
  directory: Directory;
};

const STATES = ['waiting', 'uploading', 'finished', 'failed', 'expired'] as const;

const LIMITS = {
  expires: Instant,
  max_bytes: z.int().describe('How large each file may be.'),
};
const FILE = {
  field: z.string().optional().describe('The form field it would have come in, if it was asked for by one.'),
  flavor: z.string().describe('What its track is to be.'),
};

const DirectUploadMade = z
  .object({
    identifier: z.string(),
    ...LIMITS,
    files: z.array(z.object({ ...FILE, url: z.url().describe('Its address, which is told only this once.') })),
  })
  .meta({ id: 'DirectUploadMade' });

const DirectUploadState = z
  .object({
    identifier: z.string(),
    state: z
      .enum(STATES)
      .describe(
        '`waiting` until the first byte; `finished` when there is the event, `failed` when none could be made.',
      ),
    ...LIMITS,
    files: z.array(
      z.object({
        ...FILE,
        filename: z.string().optional().describe('As whoever uploads says; missing until then.'),
        length: z.int().nullable().describe('In bytes; null until whoever uploads says it.'),
        offset: z.int().describe('How many bytes have come and are safe.'),
        upload_identifier: z
          .string()
          .optional()
          .describe('Of what `failed`: for the form field `uploads` of `POST /api/events`, until it expires.'),
      }),
    ),
    event_identifier: z.string().optional().describe('The event that was made of it.'),
    reason: z.string().optional().describe('Why no event could be made of it.'),
  })
  .meta({ id: 'DirectUpload' });

const access = apiRole('EVENTS_CREATE');
const params = { direct_upload_id: pathParameter('Identifier of the direct upload.', DIRECT_UPLOAD_ID) };
const example: z.infer<typeof DirectUploadState> = {
  identifier: DIRECT_UPLOAD_ID,
  state: 'uploading',
  expires: '2026-02-01T12:00:00Z',
  max_bytes: 10_737_418_240,
  files: [
    {
      field: 'presenter',
      flavor: 'presenter/source',
      filename: 'lecture.mp4',
      length: 1_073_741_824,
      offset: 524_288_000,
    },
  ],
};

/** Hands a server addresses that the browser of one of its users may upload to. */
export const newDirectUpload = defineEndpoint({
  method: 'post',
  path: PATH,
  operationId: 'postDirectUploads',
  access,
  summary: 'Ask for addresses to upload to',
  description:
    'For files of an event that somebody without an account is to send, such as the user of a learning platform from a browser. Each file gets an address that is told only once and good for that file alone, as the `uploadUrl` (with a deferred length) or the `endpoint` of a [tus](https://tus.io/) client. `acl`, `metadata` and `processing` are those of `POST /api/events` and looked at now. When all files have come, the event is made of them, as whoever asked.',
  form: {
    schema: z.object({
      ...newJsonParts,
      files: z
        .string()
        .optional()
        .describe(
          'Which files are to come: form fields of `POST /api/events` with commas between them, or a JSON array of such names and of objects with a `field` or a `flavor`; `presenter` unless given.',
        ),
      maxBytes: z
        .string()
        .optional()
        .describe('How large each file may be, in bytes; `MAX_UPLOAD_BYTES` at most, and unless given.'),
      expires: z
        .string()
        .optional()
        .describe(
          'In how many seconds, or when (ISO 8601, with a time zone), the addresses end and what has come to them is dropped; in `UPLOAD_EXPIRY_HOURS` at the latest, and unless given.',
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
      description: 'The addresses, which lead nowhere else and are not told again.',
      body: DirectUploadMade,
      example: {
        identifier: DIRECT_UPLOAD_ID,
        expires: '2026-02-01T12:00:00Z',
        max_bytes: 10_737_418_240,
        files: [
          {
            field: 'presenter',
            flavor: 'presenter/source',
            url: `${EXAMPLE_URL}${ADDRESSES}/Zk3vXq0T1cUuY4mWkqS3eX7tFvJ9hNpLrDaGi2Bb8sE`,
          },
        ],
      },
      headers: createdHeaders(`${EXAMPLE_URL}${PATH}/${DIRECT_UPLOAD_ID}`),
    },
  },
  refusals: [...PART_REFUSALS, ...MISSING_PARTS, ...LIMIT_REFUSALS, NO_SUCH_SERIES, IDENTIFIER_TAKEN],
  handle: ask,
});

const ofOne = { path: `${PATH}/{direct_upload_id}`, access, params } as const;

export const readDirectUpload = defineEndpoint({
  ...ofOne,
  method: 'get',
  summary: 'How far a direct upload is',
  description:
    'For the account that asked for it, and administrators. It can be asked for some days after it has expired.',
  answers: { 200: { description: 'How far it is.', body: DirectUploadState, example } },
  refusals: [NO_DIRECT_UPLOAD],
  handle: async ({ c, params }, { database }: Services) => {
    const direct = await visible(c, database, params.direct_upload_id);
    return versionedJson(c, directUploadJson(direct), 200, { 'Cache-Control': 'no-store' });
  },
});

export const removeDirectUpload = defineEndpoint({
  ...ofOne,
  method: 'delete',
  summary: 'Take a direct upload back',
  description: 'Its addresses end at once, and what has come to them is dropped. An event that was made of it stays.',
  answers: { 204: { description: 'Nothing of it is kept.' } },
  refusals: [NO_DIRECT_UPLOAD, EVENT_MADE],
  handle: async ({ c, params }, { database }: Services) => {
    const { id } = await visible(c, database, params.direct_upload_id);
    const { accepted } = await inTransaction(database, (trx) => discardDraft(trx, directDraft(id))).catch((error) => {
      throw error instanceof DraftGone ? NO_DIRECT_UPLOAD(id) : error;
    });
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
  const { maxOccurrences, minGapMs: gapMs } = config.scheduling;
  const options = { catalogs: services.catalogs.event, version, database, maxOccurrences };
  const events = await parseNewEvents(fields, options);
  await rehearse({ principal, requestId, target: { kind: 'new', events, gapMs }, tracks: [] }, services);
  const author = await authorOf(principal, directory);
  const sent = Object.fromEntries(EVENT_FIELDS.map((name) => [name, fields.get(name) ?? '']));
  const asked = { ...limits, author, requestId, fields: sent, version };
  const account = signedIn?.username ?? principal.username;
  const { id, tokens } = await inTransaction(database, (trx) => openDirectUpload(trx, account, asked));
  const made: z.infer<typeof DirectUploadMade> = {
    identifier: id,
    expires: formatInstant(limits.closesAt),
    max_bytes: limits.maxBytes,
    files: limits.files.map((file, i) => ({ ...file, url: `${config.publicUrl}${ADDRESSES}/${tokens[i]}` })),
  };
  const headers = { Location: `${config.publicUrl}${PATH}/${id}`, 'Cache-Control': 'no-store' };
  return versionedJson(c, made, 201, headers);
}

/** Tests whether an intake would be accepted, and writes nothing. @throws {Error} as `accept` */
async function rehearse(intake: Intake, services: Services): Promise<void> {
  const rehearsed = new Error('It would have been accepted.');
  await explainingConflicts(services.database, intake.principal, async (trx) => {
    await accept(trx, intake, services);
    throw rehearsed;
  }).catch((error) => {
    if (error !== rehearsed) throw error;
  });
}

/** Stores roles that the directory does not give: those of a token, and those that a request acts with. */
async function authorOf(principal: Principal, directory: Directory): Promise<Author> {
  const { username, name, email, provider, roles } = principal;
  const known = (await directory.find(username))?.principal;
  const same = known?.provider === provider && known.roles.symmetricDifference(new Set(roles)).size === 0;
  return { username, name, email, provider, ...(!same && { roles: [...roles] }) };
}

/** @throws {HttpError} 404 for what is another account's */
async function visible(c: Context, database: Queryable, id: string): Promise<DirectUpload> {
  const { principal, signedIn } = c.var;
  const direct = await findDirectUpload(database, id);
  const isOwn = direct?.owner === signedIn?.username;
  if (!direct || !(isOwn || principal.isAdmin())) throw NO_DIRECT_UPLOAD(id);
  return direct;
}

/** A direct upload as the account that asked for it sees it. */
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
