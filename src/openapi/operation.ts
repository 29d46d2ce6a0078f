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
  TOO_MANY_AT_ONCE,
  TOO_MANY_WRONG,
  UNAUTHORIZED,
  UNVERIFIABLE,
  WRONG_PASSWORD,
} from '#access/access-errors.ts';
import { API_VERSIONS, atLeast, mediaType, NO_VERSION } from '#platform/http/answer/version.ts';
import { OTHER_SITE } from '#platform/http/app/cross-site.ts';
import { DATABASE_AWAY, FAULT, OTHERS_CHANGE_IT, UNSTORABLE } from '#platform/http/app/error-handler.ts';
import type { Answer, Description, Form } from '#platform/http/endpoint/endpoint.ts';
import type { ShownRefusal } from '#platform/http/errors/refusal.ts';
import { SILENT } from '#platform/http/form/body.ts';
import { FORM_TOO_LONG, UNREADABLE_FORM } from '#platform/http/form/form.ts';

/** Wherever somebody may sign in. */
const WITH_CREDENTIALS = [
  WRONG_PASSWORD,
  NOT_BASIC,
  NO_DIGEST,
  STALE_NONCE,
  OTHER_TARGET,
  TOO_MANY_WRONG,
  TOO_MANY_AT_ONCE,
  UNVERIFIABLE,
  DATABASE_AWAY,
  OTHERS_CHANGE_IT,
];
/** What any request to the API may meet. */
const ACTING = [NEEDS_SUDO, RIGHTS_GUARDED, ORGANIZATION_GUARDED, NO_SUCH_ORGANIZATION, NO_SUCH_USER];
/** What whoever has to sign in may meet, too. */
const SIGNED_IN = [UNSTORABLE, SIGN_IN, UNAUTHORIZED];
/** What whoever sends a form without files may meet, too. */
const WITH_FORM = [UNREADABLE_FORM, FORM_TOO_LONG, SILENT];

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is invalid or contradicts itself.',
  401: 'The request has no credentials or wrong ones, or the account may read but not change this.',
  403: 'The account lacks the role that this needs, or what is asked for is forbidden.',
  404: 'It does not exist, or the account may not read it.',
  406: 'The version asked for does not exist or does not have this.',
  408: 'Nothing more was received.',
  409: 'It contradicts the state that things are in.',
  410: 'It is not there any more.',
  412: 'The user to act as does not exist, or the version of the protocol is another.',
  413: 'The request is too large.',
  415: 'The request is not in the form that this needs.',
  416: 'The file has no such part.',
  422: 'The key has been used for another request.',
  423: 'Somebody else is at it.',
  429: 'Too many wrong passwords.',
  460: 'What came is not what was meant.',
  500: 'Something failed that should not have.',
  503: 'A part that this depends on does not answer; try again.',
  507: 'There is no room left.',
};

const EXAMPLE_CHALLENGE =
  'Digest realm="Opencast", qop="auth", nonce="tf3x1c-9f86d081884c7d65-5vGeaH0cOlmL_gHgwLbyLQ", algorithm=MD5';
const HEADERS: Readonly<Record<number, ZodOpenApiResponseObject['headers']>> = {
  401: {
    'WWW-Authenticate': {
      description: 'How to sign in; absent for an account that may not change what it asks to change.',
      schema: { type: 'string', examples: [`${EXAMPLE_CHALLENGE}, ${BASIC}`] },
    },
  },
  429: { 'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'string' } } },
  503: { 'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'string' } } },
};

const shared = new Map<string, ZodOpenApiResponseObject>();

/** The refusals of an endpoint by status, each a bare sentence. Those that many have in common are shared. */
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

/** Where nobody is asked who they are. */
const OPEN = /^\/(?:$|health|direct-uploads)/;

function commonOf({ method, path, access, form, writes }: Description): ShownRefusal[] {
  const inApi = path.startsWith('/api');
  const known = !OPEN.test(path);
  const reads = !writes && (method === 'get' || method === 'options');
  return [
    FAULT,
    ...(reads ? [] : [OTHER_SITE]),
    ...(known || access !== 'public' ? WITH_CREDENTIALS : []),
    ...(known ? ACTING : []),
    ...(inApi ? [NO_VERSION] : []),
    ...(access === 'public' ? [] : [...SIGNED_IN, needed(access)]),
    ...(form && !form.streams ? WITH_FORM : []),
  ];
}

/** What whoever lacks the role gets. */
function needed(access: readonly string[]): ShownRefusal {
  return access.length > 0 ? NEEDS_ROLE.about(access) : ADMINISTRATORS_ONLY;
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

/** An endpoint as an operation of the document. */
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
    description: since ? `${description}\n\nVersion ${since} and higher.` : description,
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

/** A form whose fields have their part of the example, too. */
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

/** A response that may be a sentence as well. */
function withContent(
  response: ZodOpenApiResponseObject,
  refusal: ZodOpenApiResponseObject | undefined,
): ZodOpenApiResponseObject {
  if (!refusal) return response;
  return { ...response, content: { ...response.content, ...refusal.content } };
}

/** One media type for each version that has the endpoint; the example is of the newest. */
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
