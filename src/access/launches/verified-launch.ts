import { isUsername } from '../accounts/accounts.ts';
import type { Directory } from '../accounts/directory.ts';
import type { LaunchedAccounts, LaunchedUser } from '../sessions/launched-accounts.ts';
import type { LaunchConsumer, LaunchPlatform } from './launch-keys.ts';
import { INVALID_LAUNCH } from './launch-refusals.ts';
import { contextRoleNames, contextRoles, isInstructor } from './launch-roles.ts';

/** The message of a learning platform, whose signature, time and nonce are checked. */
export interface VerifiedLaunch {
  platform: LaunchConsumer | LaunchPlatform;
  user: { id: string; login: string | undefined; name: string; email: string };
  context: string | undefined;
  roles: readonly string[];
  /** The URL that the platform asks for. */
  targetUrl: string | undefined;
  /** Parameters of the site or the teacher, without `custom_`. */
  custom: ReadonlyMap<string, string>;
  /** The request to choose a recording; undefined for a launch of one. */
  deepLink: DeepLinkRequest | undefined;
}

/** The request to choose a recording for a course. */
export interface DeepLinkRequest {
  returnUrl: string;
  /** Opaque text that the response repeats. */
  data: string | undefined;
  deploymentId: string;
}

const MOST_CONTEXT = 128;
const USER_ID = /^[^\p{Cc}]{1,256}$/u;

/** Returns text without control characters; empty for other values. */
export function plainText(value: unknown): string {
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : '';
}

/**
 * Returns the user of a launch. The name has the platform before it and a colon, which names of accounts never contain.
 * A trusted platform names users of this server, apart from those who may do everything.
 *
 * @throws {HttpError} 400 without a usable user
 */
export async function launchedUser(
  { platform, user, context, roles }: VerifiedLaunch,
  { directory, accounts }: { directory: Pick<Directory, 'find' | 'heldBy'>; accounts: Pick<LaunchedAccounts, 'find'> },
): Promise<LaunchedUser> {
  if (!USER_ID.test(user.id) || !user.id.isWellFormed()) {
    throw INVALID_LAUNCH('its user is missing, or longer than 256 characters. The platform must send the user');
  }
  const names = contextRoleNames(roles);
  const granted = [
    ...contextRoles(context, names, platform.contextPrefix),
    ...(isInstructor(names) ? platform.instructorRoles : []),
  ];
  const course = plainText(context);
  const facts = {
    ...{ platform: platform.name, name: user.name, email: user.email },
    contexts: { [course.length > MOST_CONTEXT ? '' : course]: granted },
  };
  const named = platform.trustUsernames ? await trustedName(user.login || user.id, directory) : undefined;
  const trusted = named && { username: named.username, launch: { ...facts, hasAccount: named.hasAccount } };
  if (trusted && (await accounts.find(trusted))) return trusted;
  return { username: `lti:${platform.name}:${user.id}`, launch: { ...facts, hasAccount: false } };
}

/** Returns the name that a trusted platform may use; undefined if it belongs to another user. */
async function trustedName(username: string, directory: Pick<Directory, 'find' | 'heldBy'>) {
  if (!isUsername(username) || !username.isWellFormed()) return undefined;
  if (await directory.find(username)) return { username, hasAccount: true };
  return (await directory.heldBy(username)) === undefined ? { username, hasAccount: false } : undefined;
}
