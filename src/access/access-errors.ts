import { refusal } from '#platform/http/errors/errors.ts';
import { REALM } from './accounts/secrets.ts';
import { ROLE_SUDO } from './roles/roles.ts';

/** The HTTP Basic challenge; `authenticate` replaces it with all challenges the client may use. */
export const BASIC = `Basic realm="${REALM}"`;
const CHALLENGE = { 'WWW-Authenticate': BASIC };

export const SIGN_IN = refusal(401, 'Authentication required: sign in with a user name and password.', [], CHALLENGE);
export const NOT_BASIC = refusal(401, 'The Authorization header must use the scheme Basic or Digest.', [], CHALLENGE);
export const WRONG_PASSWORD = refusal(401, 'User name or password is wrong.', [], CHALLENGE);
/** The `authenticate` middleware adds the challenge. */
export const NO_DIGEST = refusal(
  401,
  (fault: string) => `The Authorization header is not a valid HTTP Digest response: ${fault}.`,
  ["'nonce' is missing"],
);
/** The password is right; `authenticate` adds a challenge with a new nonce. */
export const STALE_NONCE = refusal(401, 'The nonce has expired. Try again with the nonce in WWW-Authenticate.');
export const OTHER_TARGET = refusal(400, "The 'uri' in the Authorization header does not match the request.");
/** No challenge: the caller is known, but has no permission (compatibility 1.4). */
export const UNAUTHORIZED = refusal(401, 'unauthorized');
export const NEEDS_ROLE = refusal(
  403,
  (roles: readonly string[]) => `This request requires the role ${roles.join(' or ')}.`,
  [['ROLE_API_EVENTS_VIEW']],
);
export const ADMINISTRATORS_ONLY = refusal(403, 'This request requires an administrator.');
export const NEEDS_SUDO = refusal(403, `Acting as another user requires the role ${ROLE_SUDO}.`);
export const ORGANIZATION_GUARDED = refusal(403, 'Choosing the organization requires an administrator.');
export const NO_SUCH_ORGANIZATION = refusal(403, 'The organization does not exist.');
export const RIGHTS_GUARDED = refusal(403, 'Only an administrator may act with the rights of an administrator.');
export const NO_SUCH_USER = refusal(412, 'The user to act as does not exist.');
export const TOO_MANY_WRONG_PASSWORDS = refusal(429, 'Too many wrong passwords; try again later.');
export const TOO_MANY_SIGN_INS = refusal(503, 'Too many concurrent sign-ins. Try again.', [], { 'Retry-After': '1' });
export const UNVERIFIABLE = refusal(503, 'The token cannot be verified now. Try again later.', [], {
  'Retry-After': '10',
});
