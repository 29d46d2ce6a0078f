import type { Queryable } from '#platform/database/kysely.ts';
import { Principal } from '../principal.ts';
import { accountRoles, ROLE_ADMIN, userRole } from '../roles/roles.ts';
import { findAccount, findAgentAccount, holdRole, type StoredAccount, usernamesInAnyCase } from './accounts.ts';
import { type DigestSecrets, hashPassword } from './secrets.ts';

const PROVIDER = 'inlet';

/** Somebody who can sign in. */
export interface KnownAccount {
  principal: Principal;
  passwordHash: string;
  /** A secret that changes with the password, and with nothing else. */
  credential: string;
}

/** A machine that can sign in with HTTP Digest. */
export interface KnownAgent {
  principal: Principal;
  secrets: DigestSecrets;
}

/**
 * Everybody who can sign in: the administrator of the configuration, who does not depend on the database, and the
 * accounts in the database. The administrator's name wins over an account of the same name.
 */
export class Directory {
  readonly #database: Queryable;
  readonly #admin: { username: string; password: string };
  #adminHash: Promise<string> | undefined;

  constructor(options: { database: Queryable; admin: { username: string; password: string } }) {
    this.#database = options.database;
    this.#admin = options.admin;
  }

  /** The hash of the administrator's password, the same string for the life of the process. */
  adminHash(): Promise<string> {
    this.#adminHash ??= hashPassword(this.#admin.password);
    return this.#adminHash;
  }

  async find(username: string): Promise<KnownAccount | undefined> {
    if (username === this.#admin.username) {
      return {
        principal: principalOf({
          username,
          name: 'Administrator',
          email: '',
          roles: [ROLE_ADMIN],
          agent_id: null,
        }),
        passwordHash: await this.adminHash(),
        // The hash is another one in each process.
        credential: this.#admin.password,
      };
    }
    const account = await findAccount(this.#database, username);
    if (!account) return undefined;
    const { password_hash: passwordHash } = account;
    return { principal: principalOf(account), passwordHash, credential: passwordHash };
  }

  /** The machine of this name; undefined for people, who sign in with their passwords alone. */
  async findAgent(username: string): Promise<KnownAgent | undefined> {
    if (username === this.#admin.username) return undefined;
    const agent = await findAgentAccount(this.#database, username);
    if (!agent) return undefined;
    return { principal: principalOf(agent), secrets: { md5: agent.md5, sha256: agent.sha256 } };
  }

  /**
   * Who else has the role that stands for this user of the identity provider: somebody with a password, or another such
   * user. From now on nobody else has it when nobody had.
   */
  async heldBy(username: string): Promise<'account' | 'user' | undefined> {
    const accounts = [this.#admin.username, ...(await usernamesInAnyCase(this.#database, username))];
    if (accounts.some((name) => userRole(name) === userRole(username))) return 'account';
    return (await holdRole(this.#database, username)) === username ? undefined : 'user';
  }
}

function principalOf(account: Pick<StoredAccount, 'username' | 'name' | 'email' | 'roles' | 'agent_id'>): Principal {
  return new Principal({
    username: account.username,
    name: account.name,
    email: account.email,
    provider: PROVIDER,
    roles: accountRoles(account.username, account.roles),
    agentId: account.agent_id ?? undefined,
  });
}
