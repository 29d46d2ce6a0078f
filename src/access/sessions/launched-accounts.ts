import type { Directory, KnownAccount } from '../accounts/directory.ts';
import { Principal } from '../principal.ts';
import { accountRoles, ROLE_ADMIN, ROLE_CAPTURE_AGENT, ROLE_EXTERNAL_APPLICATIONS, ROLE_SUDO } from '../roles/roles.ts';

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

/** Roles that users of learning platforms never have: those of administrators, services and machines. */
export const GUARDED_ROLES = [ROLE_ADMIN, ROLE_SUDO, ROLE_CAPTURE_AGENT, ROLE_EXTERNAL_APPLICATIONS];

/** Finds the accounts of sessions that launches began. */
export class LaunchedAccounts {
  readonly #directory: Pick<Directory, 'find' | 'withGroups'>;
  readonly #credentials: ReadonlyMap<string, string>;

  /** @param credentials by the name of the platform */
  constructor(directory: Pick<Directory, 'find' | 'withGroups'>, credentials: ReadonlyMap<string, string>) {
    this.#directory = directory;
    this.#credentials = credentials;
  }

  /**
   * Returns the user with all present roles, also those from groups.
   *
   * @returns undefined if the platform is no longer configured, or the account is not or no longer allowed
   */
  async find({ username, launch }: LaunchedUser): Promise<SessionAccount | undefined> {
    const credential = this.#credentials.get(launch.platform);
    if (credential === undefined) return undefined;
    const granted = Object.values(launch.contexts).flat();
    const facts = { username, name: launch.name, email: launch.email, provider: LAUNCH_PROVIDER };
    const account = await this.#directory.find(username);
    // An account that was created since belongs to another user.
    if (launch.hasAccount !== (account !== undefined)) return undefined;
    const roles = new Set([...(account?.principal.roles ?? accountRoles(username, [])), ...granted]);
    const principal = await this.#directory.withGroups(new Principal({ ...facts, roles }));
    if (GUARDED_ROLES.some((role) => principal.hasRole(role))) return undefined;
    return { principal, credential: account ? `${credential} ${account.credential}` : credential };
  }
}
