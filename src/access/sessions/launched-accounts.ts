import type { Directory, KnownAccount } from '../accounts/directory.ts';
import { Principal } from '../principal.ts';
import { accountRoles, ROLE_ADMIN, ROLE_SUDO } from '../roles/roles.ts';

/** The provider of users of learning platforms. */
export const LAUNCH_PROVIDER = 'lti';

/** The user of a learning platform, as the session keeps it. */
export interface Launch {
  /** Name of the platform in the configuration. */
  platform: string;
  name: string;
  email: string;
  /** True for a user with an account of this server, whose roles count, too. */
  hasAccount: boolean;
  /** Roles by the course that granted them. */
  contexts: Readonly<Record<string, readonly string[]>>;
}

/** The user of a launch, by the name that this server gives to it. */
export interface LaunchedUser {
  username: string;
  launch: Launch;
}

type SessionAccount = Pick<KnownAccount, 'principal' | 'credential'>;

/** Returns true for an account that no learning platform may act for: an administrator, a service or a machine. */
export function isGuarded({ roles, agentId }: Principal): boolean {
  return roles.has(ROLE_ADMIN) || roles.has(ROLE_SUDO) || agentId !== undefined;
}

/** Finds the accounts of sessions that launches began. */
export class LaunchedAccounts {
  readonly #directory: Pick<Directory, 'find'>;
  readonly #credentials: ReadonlyMap<string, string>;

  /** @param credentials by the name of the platform */
  constructor(directory: Pick<Directory, 'find'>, credentials: ReadonlyMap<string, string>) {
    this.#directory = directory;
    this.#credentials = credentials;
  }

  /** @returns undefined if the platform is no longer configured, or the account no longer allowed */
  async find({ username, launch }: LaunchedUser): Promise<SessionAccount | undefined> {
    const credential = this.#credentials.get(launch.platform);
    if (credential === undefined) return undefined;
    const granted = Object.values(launch.contexts).flat();
    const facts = { username, name: launch.name, email: launch.email, provider: LAUNCH_PROVIDER };
    if (!launch.hasAccount) {
      return { principal: new Principal({ ...facts, roles: accountRoles(username, granted) }), credential };
    }
    const account = await this.#directory.find(username);
    if (!account || isGuarded(account.principal)) return undefined;
    const roles = new Set([...account.principal.roles, ...granted]);
    return { principal: new Principal({ ...facts, roles }), credential: `${credential} ${account.credential}` };
  }
}
