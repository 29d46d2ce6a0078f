import { z } from 'zod';
import type {
  ZodOpenApiMediaTypeObject,
  ZodOpenApiOperationObject,
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import {
  ADMINISTRATORS_ONLY,
  BASIC,
  NEEDS_ROLE,
  NEEDS_SUDO,
  NO_DIGEST,
  NO_SUCH_ORGANIZATION,
  NO_SUCH_USER,
  NOT_BASIC,
  ORGANIZATION_GUARDED,
  OTHER_TARGET,
  RIGHTS_GUARDED,
  SIGN_IN,
  STALE_NONCE,
  TOO_MANY_SIGN_INS,
  TOO_MANY_WRONG_PASSWORDS,
  UNAUTHORIZED,
  UNVERIFIABLE,
  WRONG_PASSWORD,
} from '#access/access-errors.ts';
import { API_VERSIONS, atLeast, mediaType, NO_VERSION } from '#platform/http/answer/version.ts';
import { CROSS_SITE_WRITE } from '#platform/http/app/cross-site.ts';
import {
  CONCURRENT_UPDATE,
  DATABASE_UNAVAILABLE,
  INTERNAL_ERROR,
  UNSTORABLE_CHARACTER,
} from '#platform/http/app/error-handler.ts';
import type { Answer, Description, Form } from '#platform/http/endpoint/endpoint.ts';
import type { ShownRefusal } from '#platform/http/errors/errors.ts';
import { FORM_TOO_LONG, UNREADABLE_FORM } from '#platform/http/form/form.ts';
import { CLIENT_IDLE } from '#platform/http/form/request-body.ts';

/** Refusals of endpoints that accept credentials. */
const WITH_CREDENTIALS = [
  WRONG_PASSWORD,
  NOT_BASIC,
  NO_DIGEST,
  STALE_NONCE,
  OTHER_TARGET,
  TOO_MANY_WRONG_PASSWORDS,
  TOO_MANY_SIGN_INS,
  UNVERIFIABLE,
  DATABASE_UNAVAILABLE,
  CONCURRENT_UPDATE,
];
/** Refusals of acting for another user. */
const ACTING = [NEEDS_SUDO, RIGHTS_GUARDED, ORGANIZATION_GUARDED, NO_SUCH_ORGANIZATION, NO_SUCH_USER];
/** Refusals of endpoints that require credentials. */
const SIGNED_IN = [UNSTORABLE_CHARACTER, SIGN_IN, UNAUTHORIZED];
/** Refusals of endpoints with a form without files. */
const WITH_FORM = [UNREADABLE_FORM, FORM_TOO_LONG, CLIENT_IDLE];

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is invalid or contradicts itself.',
  401: 'The credentials are missing or wrong, or the account may read but not change the resource.',
  403: 'The account lacks the required role, or the request is forbidden.',
  404: 'The resource does not exist, or the account may not read it.',
  406: 'The requested version does not exist or lacks this endpoint.',
  408: 'The client stopped sending the request.',
  409: 'The request conflicts with the state of the resource.',
  410: 'The resource no longer exists, or its URL has expired.',
  412: 'The user to act as does not exist, or the version of the protocol is not supported.',
  413: 'The request is too large.',
  415: 'The media type of the request is not supported.',
  416: 'The requested range is outside of the file.',
  422: 'The idempotency key was used for another request.',
  423: 'Another request holds the lock.',
  429: 'Too many wrong passwords.',
  460: 'The checksum of the received bytes does not match.',
  500: 'Internal error.',
  503: 'A required service does not answer. Try again later.',
  507: 'The storage is full.',
};

const EXAMPLE_CHALLENGE =
  'Digest realm="Opencast", qop="auth", nonce="tf3x1c-9f86d081884c7d65-5vGeaH0cOlmL_gHgwLbyLQ", algorithm=MD5';
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds until the next try.', schema: { type: 'string' } },
} as const;
const HEADERS: Readonly<Record<number, ZodOpenApiResponseObject['headers']>> = {
  401: {
    'WWW-Authenticate': {
      description: 'The accepted credentials; absent if the account may read but not change the resource.',
      schema: { type: 'string', examples: [`${EXAMPLE_CHALLENGE}, ${BASIC}`] },
    },
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

const shared = new Map<string, ZodOpenApiResponseObject>();

/** Returns the refusals of an endpoint by status. Endpoints with the same refusals share a component. */
function refusalsOf(endpoint: Description): Record<string, ZodOpenApiResponseObject> {
  const own = byStatus([...(endpoint.refusals ?? []), ...(endpoint.repeatable?.refusals ?? [])]);
  const common = byStatus(commonOf(endpoint));
  const statuses = new Set([...own.keys(), ...common.keys()]);
  return Object.fromEntries(
    [...statuses].map((status) => {
      const sentences = common.get(status) ?? [];
      const given = own.get(status);
      return [status, given ? refusal(status, [...given, ...sentences]) : sharedRefusal(status, sentences)];
    }),
  );
}

/** Paths without authentication. */
const OPEN = /^\/(?:$|health|direct-uploads)/;

function commonOf({ method, path, access, form, writes }: Description): ShownRefusal[] {
  const inApi = path.startsWith('/api');
  const known = !OPEN.test(path);
  const reads = !writes && (method === 'get' || method === 'options');
  return [
    INTERNAL_ERROR,
    ...(reads ? [] : [CROSS_SITE_WRITE]),
    ...(known || access !== 'public' ? WITH_CREDENTIALS : []),
    ...(known ? ACTING : []),
    ...(inApi ? [NO_VERSION] : []),
    ...(access === 'public' ? [] : [...SIGNED_IN, access.length > 0 ? NEEDS_ROLE.about(access) : ADMINISTRATORS_ONLY]),
    ...(form && !form.streams ? WITH_FORM : []),
  ];
}

function byStatus(refusals: readonly ShownRefusal[]): Map<number, string[]> {
  const sentences = new Map<number, string[]>();
  for (const { status, example } of refusals) {
    sentences.set(status, [...new Set([...(sentences.get(status) ?? []), example])]);
  }
  return sentences;
}

function sharedRefusal(status: number, sentences: readonly string[]): ZodOpenApiResponseObject {
  const key = `${status} ${sentences.join(' ')}`;
  const known = shared.get(key);
  if (known) return known;
  const alike = [...shared.keys()].filter((each) => each.startsWith(`${status} `)).length;
  const id = `Refused${status}${alike === 0 ? '' : `-${alike + 1}`}`;
  const made = { id, ...refusal(status, sentences) };
  shared.set(key, made);
  return made;
}

function refusal(status: number, sentences: readonly string[]): ZodOpenApiResponseObject {
  const examples = Object.fromEntries(sentences.map((value, i) => [`sentence${i + 1}`, { value }]));
  return {
    description: MEANINGS[status] ?? 'The request is refused.',
    ...(HEADERS[status] && { headers: HEADERS[status] }),
    content: { 'text/plain; charset=utf-8': { schema: { type: 'string' }, examples } },
  };
}

const NEWEST_FIRST = [...API_VERSIONS].reverse();

/** Returns the operation of an endpoint. */
export function operationOf(endpoint: Description, tag: string): ZodOpenApiOperationObject {
  const { method, path, params, query, repeatable, form, access, since, summary, description } = endpoint;
  const refusals = refusalsOf(endpoint);
  const answers = Object.entries(endpoint.answers ?? {}).map(([status, answer]) => [
    status,
    withContent(responseOf(answer, endpoint), refusals[status]),
  ]);
  return {
    operationId: endpoint.operationId ?? operationId(method, path),
    tags: [tag],
    summary,
    description: [description, since && `Version ${since} and higher.`].filter(Boolean).join('\n\n') || undefined,
    ...(since && { 'x-since': since }),
    ...(access === 'public' && { security: [] }),
    requestParams: {
      ...(params && { path: z.object(params) }),
      ...(query && { query }),
      ...(repeatable && { header: repeatable.headers }),
    },
    ...(form && { requestBody: requestBody(form) }),
    responses: { ...refusals, ...Object.fromEntries(answers) },
  };
}

function operationId(method: string, path: string): string {
  const words = path
    .replace(/^\/api(?=\/)/, '')
    .replace(/\.json$/, '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return method + (name || 'Home');
}

function requestBody(form: Form): ZodOpenApiRequestBodyObject {
  const { example, bodies } = form;
  const content = { schema: withExamples(form.schema, example), example };
  return {
    required: true,
    content: {
      ...(!form.streams && { 'application/x-www-form-urlencoded': content }),
      'multipart/form-data': content,
      ...bodies,
    },
  };
}

/** Copies the example of a form to its fields. */
function withExamples({ shape }: Form['schema'], example: Form['example']) {
  return z.object(
    Object.fromEntries(
      Object.entries(shape as Record<string, z.ZodType>).map(([name, field]) => [
        name,
        example[name] === undefined ? field : field.meta({ ...field.meta(), example: example[name] }),
      ]),
    ),
  );
}

function responseOf(answer: Answer, { since }: Description): ZodOpenApiResponseObject {
  const { description, body, binary, headers } = answer;
  return {
    description,
    ...(headers && { headers }),
    ...(binary && { content: { '*/*': { schema: {} } } }),
    ...(body && { content: contentOf(answer, body, since) }),
  };
}

/** Adds the sentences of a refusal to a response with the same status. */
function withContent(
  response: ZodOpenApiResponseObject,
  refusal: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  if (!refusal) return response;
  return { ...response, content: { ...response.content, ...refusal.content } };
}

/** Returns one media type for each version of the endpoint. The newest has the example. */
function contentOf(
  { plain, page, mediaType: text, example }: Answer,
  schema: NonNullable<Answer['body']>,
  since: Description['since'] = API_VERSIONS[0],
) {
  const media: ZodOpenApiMediaTypeObject = { schema };
  if (text) return { [text]: { ...media, example } };
  if (plain) {
    return {
      'application/json': { ...media, example },
      ...(page && { 'text/html; charset=UTF-8': { schema: { type: 'string' as const } } }),
    };
  }
  const versions = NEWEST_FIRST.filter((version) => atLeast(version, since));
  return Object.fromEntries(
    versions.map((version, i) => [mediaType(version), i === 0 ? { ...media, example } : media]),
  );
}
