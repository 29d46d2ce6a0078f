import { refusal } from '#platform/http/errors/refusal.ts';
import { REALM } from './accounts/secrets.ts';
import { ROLE_SUDO } from './roles/roles.ts';

/** The challenge of HTTP Basic; `authenticate` puts all there are in its place. */
export const BASIC = `Basic realm="${REALM}"`;
const CHALLENGE = { 'WWW-Authenticate': BASIC };

export const SIGN_IN = refusal(401, 'Sign in with the user name and password of an account.', [], CHALLENGE);
export const NOT_BASIC = refusal(401, 'The Authorization header is not one of HTTP Basic or Digest.', [], CHALLENGE);
export const WRONG_PASSWORD = refusal(401, 'User name or password is wrong.', [], CHALLENGE);
/** With the challenge that `authenticate` makes. */
export const NO_DIGEST = refusal(
  401,
  (fault: string) => `The Authorization header is no answer to HTTP Digest: ${fault}.`,
  ["'nonce' is missing"],
);
/** The same; the password is right. */
export const STALE_NONCE = refusal(401, 'The nonce is not one of today; answer with the new one.');
export const OTHER_TARGET = refusal(
  400,
  "The 'uri' in the Authorization header is not the address that was asked for.",
);
/** Without a challenge: the caller is known but may not do this (compatibility 1.4). */
export const UNAUTHORIZED = refusal(401, 'unauthorized');
export const NEEDS_ROLE = refusal(403, (roles: readonly string[]) => `This needs the role ${roles.join(' or ')}.`, [
  ['ROLE_API_EVENTS_VIEW'],
]);
export const ADMINISTRATORS_ONLY = refusal(403, 'This is for administrators only.');
export const NEEDS_SUDO = refusal(403, `Acting for others needs the role ${ROLE_SUDO}.`);
export const ORGANIZATION_GUARDED = refusal(403, 'Choosing the organization is for administrators only.');
export const NO_SUCH_ORGANIZATION = refusal(403, 'There is no such organization.');
export const RIGHTS_GUARDED = refusal(403, 'Only administrators may act with the rights of an administrator.');
export const NO_SUCH_USER = refusal(412, 'The user to act as does not exist.');
export const TOO_MANY_WRONG = refusal(429, 'Too many wrong passwords; try again later.');
export const TOO_MANY_AT_ONCE = refusal(503, 'Too many sign in at once; try again.', [], {
  'Retry-After': '1',
});
export const UNVERIFIABLE = refusal(503, 'The token cannot be verified at the moment. Try again later.', [], {
  'Retry-After': '10',
});
