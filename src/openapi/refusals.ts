import type { ZodOpenApiResponseObject } from 'zod-openapi';
import type { Endpoint } from './endpoint.ts';

type Sentences = string | readonly string[];

/** What any request to the API may meet, by status. */
const ALWAYS: Readonly<Record<number, Sentences>> = {
  401: ['User name or password is wrong.', 'The Authorization header is not one of HTTP Basic.'],
  403: 'Acting for others needs the role ROLE_SUDO.',
  406: 'The Accept header asks for nothing this resource can produce: application/json, or application/v1.0.0+json to application/v1.11.0+json.',
  412: 'The user to act as does not exist.',
  429: 'Too many wrong passwords; try again later.',
  500: 'Internal server error; the log has the details under request id 6f1f1d0e-4a5f-4c0b-9a43-0f3f8b2b8a17.',
  503: 'The database does not answer.',
};

/** What whoever has to sign in may meet, too. */
const SIGNED_IN: Readonly<Record<number, Sentences>> = {
  400: 'The request holds a character that cannot be stored.',
  401: ['Sign in with the user name and password of an account.', 'unauthorized'],
  403: 'This needs the role ROLE_API_EVENTS_VIEW.',
};

/** What whoever sends a form may meet, too. */
const WITH_FORM: Readonly<Record<number, Sentences>> = {
  400: 'The form cannot be read; it must be urlencoded or multipart/form-data.',
  413: 'The form is longer than 1048576 bytes.',
};

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is invalid or contradicts itself.',
  401: 'The request has no credentials or wrong ones, or the account may read but not change this.',
  403: 'The account lacks the role that this needs, or what is asked for is forbidden.',
  404: 'It does not exist, or the account may not read it.',
  406: 'The version asked for does not exist or does not have this.',
  408: 'Nothing more was received.',
  409: 'It contradicts the state that things are in.',
  412: 'The user to act as does not exist.',
  413: 'The request is too large.',
  415: 'The request is not in the form that this needs.',
  416: 'The file has no such part.',
  422: 'The key has been used for another request.',
  429: 'Too many wrong passwords.',
  500: 'Something failed that should not have.',
  503: 'A part that this depends on does not answer; try again.',
  507: 'There is no room left.',
};

const HEADERS: Readonly<Record<number, ZodOpenApiResponseObject['headers']>> = {
  401: {
    'WWW-Authenticate': {
      description: 'How to sign in; absent for an account that may not change what it asks to change.',
      schema: { type: 'string', examples: ['Basic realm="Opencast"'] },
    },
  },
  429: { 'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'string' } } },
  503: { 'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'string' } } },
};

const shared = new Map<string, ZodOpenApiResponseObject>();

/** The refusals of an endpoint by status, each a bare sentence. Those that many have in common are shared. */
export function refusalsOf(endpoint: Endpoint): Record<string, ZodOpenApiResponseObject> {
  const common = [
    ...(endpoint.path.startsWith('/api') ? [ALWAYS] : []),
    ...(endpoint.open ? [] : [SIGNED_IN]),
    ...(endpoint.form ? [WITH_FORM] : []),
  ];
  const own = endpoint.refusals ?? {};
  const statuses = new Set([own, ...common].flatMap((source) => Object.keys(source).map(Number)));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const sentences = common.flatMap((source) => source[status] ?? []);
      const given = own[status];
      if (given === undefined) return [status, sharedRefusal(status, sentences)];
      return [status, refusal(status, [...[given].flat(), ...sentences])];
    }),
  );
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
