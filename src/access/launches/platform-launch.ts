import { customFetch, errors, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { connect, parseTarget } from '#platform/outbound/connect.ts';
import { sendRequest } from '#platform/outbound/http-request.ts';
import { ALGORITHMS, KeysUnavailable, openKeySet, verifyWithAny } from '../sign-in/tokens.ts';
import type { LaunchPlatform } from './launch-keys.ts';
import { EXPIRED_LAUNCH, INVALID_LAUNCH, LAUNCH_KEYS_UNAVAILABLE, UNVERIFIED_LAUNCH } from './launch-refusals.ts';
import { plainText, type VerifiedLaunch } from './verified-launch.ts';

/** Begins the names of claims in LTI. */
export const CLAIM = 'https://purl.imsglobal.org/spec/lti/claim/';
/** Begins the names of claims in deep linking. */
export const DEEP_LINK_CLAIM = 'https://purl.imsglobal.org/spec/lti-dl/claim/';
/** The only type of content that this server offers. */
export const LINK_TYPE = 'ltiResourceLink';

/** The time that the clocks may differ. */
const CLOCK_TOLERANCE_SECONDS = 60;
const MAX_AGE = '10m';
const [KEYS_MS, KEYS_BYTES] = [10_000, 256 * 1024];

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const DeepLinkSettings = z.object({
  deep_link_return_url: z.string().refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)),
  accept_types: z.array(z.string()),
  data: text,
});
/** The claims of LTI, without the beginning of their names. */
const Claims = z.object({
  version: z.literal('1.3.0'),
  message_type: z.enum(['LtiResourceLinkRequest', 'LtiDeepLinkingRequest']),
  deployment_id: z.string(),
  target_link_uri: text,
  roles: z.array(z.string()).default([]),
  context: z.object({ id: text }).optional(),
  custom: z.record(z.string(), z.unknown()).default({}),
  lis: z.object({ person_sourcedid: text }).optional(),
  ext: z.object({ user_username: text }).optional(),
  deep_linking_settings: DeepLinkSettings.optional(),
});
type Claims = z.infer<typeof Claims>;

/** Verifies launches by LTI 1.3 with the keys of their platforms, which are fetched on first use. */
export class PlatformVerifier {
  readonly #keys = new Map<string, Promise<JWTVerifyGetKey>>();

  /**
   * Verifies an ID token: signature, platform, client, times, deployment and nonce.
   *
   * @param nonce the nonce of the state that the platform returned with it
   * @throws {HttpError} 400, 401, or 503 without the platform's keys
   */
  async verify(platform: LaunchPlatform, token: string, nonce: string): Promise<VerifiedLaunch> {
    const payload = await this.#payloadOf(platform, token);
    if (payload.nonce !== nonce) throw UNVERIFIED_LAUNCH("the claim 'nonce' of its token does not belong to it");
    requireAuthorizedParty(payload, platform);
    const { data: claims, error } = Claims.safeParse({
      ...claimsOf(payload, CLAIM),
      ...claimsOf(payload, DEEP_LINK_CLAIM),
    });
    if (!claims) throw INVALID_LAUNCH(`the claim '${error.issues[0]?.path.join('.')}' is missing or invalid`);
    if (!platform.deployments.includes(claims.deployment_id)) {
      throw UNVERIFIED_LAUNCH("the claim 'deployment_id' of its token is not in the configuration");
    }
    return launchOf(platform, payload, claims);
  }

  async #payloadOf(platform: LaunchPlatform, token: string) {
    try {
      return await verifyWithAny(token, await this.#keysOf(platform), {
        algorithms: ALGORITHMS,
        issuer: platform.issuer,
        audience: platform.clientId,
        requiredClaims: ['exp', 'iat', 'nonce'],
        maxTokenAge: MAX_AGE,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      });
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw EXPIRED_LAUNCH();
      if (error instanceof errors.JWTClaimValidationFailed) {
        throw UNVERIFIED_LAUNCH(`the claim '${error.claim}' of its token is missing or wrong`);
      }
      if (error instanceof errors.JOSEError) throw UNVERIFIED_LAUNCH('the signature of its token is wrong');
      if (error instanceof KeysUnavailable) throw LAUNCH_KEYS_UNAVAILABLE();
      throw error;
    }
  }

  #keysOf({ name, keys }: LaunchPlatform): Promise<JWTVerifyGetKey> {
    const known = this.#keys.get(name) ?? openKeySet(keys, { [customFetch]: fetchKeys });
    this.#keys.set(name, known);
    return known;
  }
}

/** A token for several clients names the one that may use it. */
function requireAuthorizedParty({ aud, azp }: JWTPayload, { clientId }: LaunchPlatform): void {
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if (azp === clientId || (azp === undefined && !isForSeveral)) return;
  throw UNVERIFIED_LAUNCH("the claim 'azp' of its token names another client");
}

/** Returns the claims whose names begin like this, without empty ones. Platforms in PHP send an empty object as a list. */
function claimsOf(payload: JWTPayload, start: string): Record<string, unknown> {
  const claims = Object.entries(payload).filter(([name, value]) => name.startsWith(start) && !isEmpty(value));
  return Object.fromEntries(claims.map(([name, value]) => [name.slice(start.length), value]));
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function launchOf(platform: LaunchPlatform, { sub, name, email }: JWTPayload, claims: Claims): VerifiedLaunch {
  return {
    platform,
    user: {
      id: typeof sub === 'string' ? sub.trim() : '',
      login: claims.ext?.user_username || claims.lis?.person_sourcedid || undefined,
      name: plainText(name),
      email: plainText(email),
    },
    context: claims.context?.id,
    roles: claims.roles,
    targetUrl: claims.target_link_uri,
    custom: new Map(
      Object.entries(claims.custom).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
    ),
    deepLink: deepLinkOf(claims),
  };
}

function deepLinkOf({ message_type, deployment_id, deep_linking_settings: settings }: Claims) {
  if (message_type !== 'LtiDeepLinkingRequest') return undefined;
  if (!settings) throw INVALID_LAUNCH("the claim 'deep_linking_settings' is missing");
  if (!settings.accept_types.includes(LINK_TYPE)) throw INVALID_LAUNCH(`'accept_types' must contain ${LINK_TYPE}`);
  return { returnUrl: settings.deep_link_return_url, data: settings.data, deploymentId: deployment_id };
}

/** Fetches a key set from the host that the configuration names, without redirects, within time and size. */
async function fetchKeys(url: string): Promise<Response> {
  const signal = AbortSignal.timeout(KEYS_MS);
  const target = parseTarget(url);
  const hosts = [{ host: target.host, port: target.port }];
  const socket = await connect(target, { hosts, variable: 'LTI_KEYS', namedMayBePrivate: true, signal });
  try {
    const answer = await sendRequest(target, socket, { idleMs: KEYS_MS, signal });
    signal.addEventListener('abort', () => answer.destroy(signal.reason), { once: true });
    const chunks: Buffer[] = [];
    let received = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      received += chunk.length;
      if (received > KEYS_BYTES) throw new Error(`The key set is longer than ${KEYS_BYTES} bytes.`);
      chunks.push(chunk);
    }
    return new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 502 });
  } finally {
    socket.destroy();
  }
}
