import type { Database } from '#platform/database/kysely.ts';
import type { LaunchConsumer } from './launch-keys.ts';
import { EXPIRED_LAUNCH, INVALID_LAUNCH, REPEATED_LAUNCH, UNVERIFIED_LAUNCH } from './launch-refusals.ts';
import { isSigned, SIGNATURE_METHODS } from './oauth-signature.ts';
import { useOnce } from './used-tokens.ts';
import { plainText, type VerifiedLaunch } from './verified-launch.ts';

/** The time before and after now in which a launch is valid, as clocks differ. */
const WINDOW_SECONDS = 300;
const CUSTOM = 'custom_';
const MOST_NONCE = 256;
/** A secret for unknown keys, so that they take as long to reject as a wrong signature. */
const NO_SECRET = 'no secret';

type Fields = readonly (readonly [name: string, value: string])[];

/**
 * Verifies a launch by LTI 1.1: the key, the OAuth signature, the time and the nonce.
 *
 * @param url the public URL of the launch, with its query
 * @throws {HttpError} 400 or 401
 */
export async function verifyConsumerLaunch(
  form: { url: string; fields: Fields },
  { consumers, database }: { consumers: readonly LaunchConsumer[]; database: Database },
): Promise<VerifiedLaunch> {
  const given = new Map(form.fields);
  const field = (name: string) => given.get(name) ?? '';
  const platform = requireSignature(form, field, consumers);
  await requireFirstUse(field, platform, database);
  if (field('lti_message_type') !== 'basic-lti-launch-request') {
    throw INVALID_LAUNCH("'lti_message_type' must be basic-lti-launch-request");
  }
  if (!field('lti_version').startsWith('LTI-1p')) throw INVALID_LAUNCH("'lti_version' must be LTI-1p0");
  return {
    platform,
    user: {
      id: field('user_id').trim(),
      login: field('ext_user_username') || field('lis_person_sourcedid') || undefined,
      name: plainText(field('lis_person_name_full')),
      email: plainText(field('lis_person_contact_email_primary')),
    },
    context: field('context_id') || undefined,
    roles: field('roles').split(','),
    targetUrl: undefined,
    custom: new Map(
      form.fields.flatMap(([name, value]) =>
        name.startsWith(CUSTOM) ? [[name.slice(CUSTOM.length), value] as const] : [],
      ),
    ),
    deepLink: undefined,
  };
}

/** An unknown key and a wrong signature get the same answer. */
function requireSignature(
  form: { url: string; fields: Fields },
  field: (name: string) => string,
  consumers: readonly LaunchConsumer[],
): LaunchConsumer {
  const method = field('oauth_signature_method');
  if (!SIGNATURE_METHODS.includes(method)) {
    throw UNVERIFIED_LAUNCH(`'oauth_signature_method' must be ${SIGNATURE_METHODS.join(' or ')}`);
  }
  const consumer = consumers.find(({ key }) => key === field('oauth_consumer_key'));
  const isRight = isSigned(form, consumer?.secret ?? NO_SECRET, method, field('oauth_signature'));
  if (!consumer || !isRight) throw UNVERIFIED_LAUNCH('its key is unknown or its signature is wrong');
  return consumer;
}

async function requireFirstUse(
  field: (name: string) => string,
  { key }: LaunchConsumer,
  database: Database,
): Promise<void> {
  const [timestamp, nonce] = [field('oauth_timestamp'), field('oauth_nonce')];
  if (!/^\d{1,12}$/.test(timestamp)) throw INVALID_LAUNCH("'oauth_timestamp' must be the seconds since 1970");
  if (nonce === '' || nonce.length > MOST_NONCE) {
    throw INVALID_LAUNCH(`'oauth_nonce' must have 1 to ${MOST_NONCE} characters`);
  }
  const seconds = Number(timestamp);
  if (Math.abs(Date.now() / 1000 - seconds) > WINDOW_SECONDS) throw EXPIRED_LAUNCH();
  // Longer than the launch is valid, because the clock of the database may differ.
  const expiresAt = new Date((seconds + 2 * WINDOW_SECONDS) * 1000);
  if (!(await useOnce(database, ['LTI 1.1', key, nonce], expiresAt))) throw REPEATED_LAUNCH();
}
