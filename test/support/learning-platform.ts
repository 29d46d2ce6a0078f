import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { type SigningKey, signingKey } from './identity-provider.ts';
import { listen } from './listen.ts';

/** The consumer of LTI 1.1 that tests configure. */
export const CONSUMER = { name: 'moodle', key: 'moodle-key', secret: 'a secret of 26 characters' };
export const DEPLOYMENT = '1';
export const CLIENT_ID = 'inlet-client';
const CLAIM = 'https://purl.imsglobal.org/spec/lti/claim/';
const DEEP_LINK = 'https://purl.imsglobal.org/spec/lti-dl/claim/';
const MEMBERSHIP = 'http://purl.imsglobal.org/vocab/lis/v2/membership#';

/** As PHP's rawurlencode, which Moodle, ILIAS and Stud.IP sign with. */
const rawurlencode = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

/** The fields of a launch by LTI 1.1, signed as Stud.IP does it: sorted, encoded, joined, encoded. */
export function consumerLaunch(
  url: string,
  fields: Record<string, string> = {},
  { secret = CONSUMER.secret, algorithm = 'sha1', encodesSecret = true } = {},
): Record<string, string> {
  const sent: Record<string, string> = {
    lti_version: 'LTI-1p0',
    lti_message_type: 'basic-lti-launch-request',
    oauth_consumer_key: CONSUMER.key,
    oauth_version: '1.0',
    oauth_nonce: randomUUID(),
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_callback: 'about:blank',
    resource_link_id: '7',
    resource_link_title: "Analysis I – O'Neill & Söhne (2026)*",
    resource_link_description: 'first line\r\nsecond line',
    user_id: '42',
    roles: 'Learner',
    context_id: '17',
    lis_person_name_full: 'Ada Lovelace',
    ...fields,
  };
  const { origin, pathname, searchParams } = new URL(url);
  const pairs = [...Object.entries(sent), ...searchParams].map(([name, value]) => [
    rawurlencode(name),
    rawurlencode(value),
  ]);
  const parameters = pairs
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const base = `POST&${rawurlencode(origin + pathname)}&${rawurlencode(parameters)}`;
  const signature = createHmac(algorithm, `${encodesSecret ? rawurlencode(secret) : secret}&`)
    .update(base)
    .digest('base64');
  return { ...sent, oauth_signature: signature };
}

/** A learning platform of LTI 1.3 on this machine. */
export interface LearningPlatform {
  url: string;
  key: SigningKey;
  /** The request that its authorization endpoint received last. */
  asked: URLSearchParams;
  /** The claims of a token that answers a login. */
  claims(login: URLSearchParams, more?: JWTPayload): JWTPayload;
  close(): Promise<void>;
}

export async function startLearningPlatform(): Promise<LearningPlatform> {
  const key = await signingKey('RS256');
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', platform.url);
    if (pathname === '/auth') platform.asked = searchParams;
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [key.publicJwk] }));
  });
  const platform: LearningPlatform = {
    url: await listen(server),
    key,
    asked: new URLSearchParams(),
    claims: (login, more = {}) => ({
      ...{ iss: platform.url, aud: CLIENT_ID, sub: '42', name: 'Ada Lovelace', nonce: login.get('nonce') },
      ...{ iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 300 },
      [`${CLAIM}version`]: '1.3.0',
      [`${CLAIM}message_type`]: 'LtiResourceLinkRequest',
      [`${CLAIM}deployment_id`]: DEPLOYMENT,
      [`${CLAIM}roles`]: [`${MEMBERSHIP}Learner`],
      [`${CLAIM}context`]: { id: '17' },
      ...more,
    }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return platform;
}

/** Claims of LTI by their short names. */
export const lti = (claims: Record<string, unknown>): JWTPayload =>
  Object.fromEntries(Object.entries(claims).map(([name, value]) => [CLAIM + name, value]));

/** The claims of a request by an instructor to choose a recording. */
export const deepLinkingClaims = (returnUrl: string, more: Record<string, unknown> = {}): JWTPayload => ({
  ...lti({ message_type: 'LtiDeepLinkingRequest', roles: [`${MEMBERSHIP}Instructor`] }),
  [`${DEEP_LINK}deep_linking_settings`]: {
    deep_link_return_url: returnUrl,
    accept_types: ['ltiResourceLink'],
    accept_presentation_document_targets: ['iframe', 'window'],
    data: 'opaque',
    ...more,
  },
});

/** Verifies a response of deep linking with the keys of the tool, as a platform does. */
export async function readDeepLinkingResponse(token: string, toolUrl: string, platform: LearningPlatform) {
  const keys = createRemoteJWKSet(new URL(`${toolUrl}/lti/keys`));
  const { payload } = await jwtVerify(token, keys, {
    issuer: CLIENT_ID,
    audience: platform.url,
    algorithms: ['RS256'],
  });
  return {
    type: payload[`${CLAIM}message_type`],
    deployment: payload[`${CLAIM}deployment_id`],
    data: payload[`${DEEP_LINK}data`],
    items: payload[`${DEEP_LINK}content_items`] as { url: string; title: string; custom: { tool: string } }[],
  };
}

/** A browser with cookies that follows no redirect by itself. */
export class CookieBrowser {
  readonly cookies = new Map<string, string>();
  readonly #origin: string;
  readonly #fetch: typeof fetch;

  constructor(origin: string, send: typeof fetch = fetch) {
    this.#origin = origin;
    this.#fetch = send;
  }

  async open(path: string, fields?: Record<string, string>, headers: Record<string, string> = {}) {
    const response = await this.#fetch(new URL(path, this.#origin), {
      redirect: 'manual',
      headers: {
        Accept: 'text/html',
        Cookie: [...this.cookies].map((pair) => pair.join('=')).join('; '),
        ...headers,
      },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const location = response.headers.get('Location');
    return {
      status: response.status,
      text: await response.text(),
      headers: response.headers,
      location: location === null ? undefined : new URL(location, new URL(path, this.#origin)),
    };
  }
}
