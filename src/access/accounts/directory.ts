import type { Queryable } from '#platform/database/kysely.ts';
import { Principal } from '../principal.ts';
import { accountRoles, ROLE_ADMIN, userRole } from '../roles/roles.ts';
import { findAccount, findAgentAccount, reserveUserRole, type StoredAccount, usernamesInAnyCase } from './accounts.ts';
import { rolesFromGroups } from './memberships.ts';
import { type DigestSecrets, hashPassword } from './secrets.ts';

export interface KnownAccount {
  principal: Principal;
  passwordHash: string;
  /** A secret that changes with the password and only with it. */
  credential: string;
}

export interface KnownAgent {
  principal: Principal;
  secrets: DigestSecrets;
}

/**
 * All accounts: the administrator from the configuration, which works without the database, and the accounts in the
 * database. The administrator's name takes precedence.
 */
export class Directory {
  readonly #database: Queryable;
  readonly #admin: { username: string; password: string };
  #adminHash: Promise<string> | undefined;

  constructor({ database, admin }: { database: Queryable; admin: { username: string; password: string } }) {
    this.#database = database;
    this.#admin = admin;
  }

  /** Returns the hash of the administrator's password; the process computes it once. */
  adminHash(): Promise<string> {
    this.#adminHash ??= hashPassword(this.#admin.password);
    return this.#adminHash;
  }

  async find(username: string): Promise<KnownAccount | undefined> {
    if (username === this.#admin.username) {
      const admin = { username, name: 'Administrator', email: '', roles: [ROLE_ADMIN], agent_id: null };
      // Each process computes a different hash, so the password itself is the credential.
      const passwordHash = await this.adminHash();
      return { principal: principalOf(admin), passwordHash, credential: this.#admin.password };
    }
    const account = await findAccount(this.#database, username);
    if (!account) return undefined;
    const { password_hash: passwordHash } = account;
    return { principal: principalOf(account), passwordHash, credential: passwordHash };
  }

  /** Returns the user with all present roles, also those from groups. */
  async findPrincipal(username: string): Promise<Principal | undefined> {
    const known = await this.find(username);
    return known && this.withGroups(known.principal);
  }

  /** Adds the roles of the groups that the user is a member of now. Administrators have all rights without them. */
  async withGroups(principal: Principal): Promise<Principal> {
    if (principal.isAdmin()) return principal;
    const more = await rolesFromGroups(this.#database, principal.username);
    return more.length === 0 ? principal : principal.withRoles([...principal.roles, ...more]);
  }

  /** Returns a capture agent; undefined for people, who sign in with passwords only. */
  async findAgent(username: string): Promise<KnownAgent | undefined> {
    if (username === this.#admin.username) return undefined;
    const agent = await findAgentAccount(this.#database, username);
    return agent && { principal: principalOf(agent), secrets: { md5: agent.md5, sha256: agent.sha256 } };
  }

  /** Reserves the user role for an identity provider's user. @returns the kind of holder if another user has the role */
  async heldBy(username: string): Promise<'account' | 'user' | undefined> {
    const accounts = [this.#admin.username, ...(await usernamesInAnyCase(this.#database, username))];
    if (accounts.some((name) => userRole(name) === userRole(username))) return 'account';
    return (await reserveUserRole(this.#database, username)) === username ? undefined : 'user';
  }
}

function principalOf(account: Pick<StoredAccount, 'username' | 'name' | 'email' | 'roles' | 'agent_id'>): Principal {
  const { username, name, email, agent_id } = account;
  const roles = accountRoles(username, account.roles);
  return new Principal({ username, name, email, provider: 'inlet', roles, agentId: agent_id ?? undefined });
}
