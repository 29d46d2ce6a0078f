import { refusal } from '#platform/http/errors/errors.ts';
import { ROLE_ADMIN, ROLE_ANONYMOUS } from './roles/roles.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The user whose rights apply: the account, or the user it acts as. */
    principal: Principal;
    /** The account that signed in; undefined for an anonymous request. */
    signedIn: Principal | undefined;
  }
}

export class Principal {
  readonly username: string;
  /** The display name; may be empty. */
  readonly name: string;
  readonly email: string;
  /** The account's source: this server or the identity provider. */
  readonly provider: string;
  readonly roles: ReadonlySet<string>;
  /** The only capture agent the account may act for; undefined if only roles decide. */
  readonly agentId: string | undefined;

  constructor(
    facts: Pick<Principal, 'username' | 'name' | 'email' | 'provider' | 'roles'> & Partial<Pick<Principal, 'agentId'>>,
  ) {
    this.username = facts.username;
    this.name = facts.name;
    this.email = facts.email;
    this.provider = facts.provider;
    this.roles = facts.roles;
    this.agentId = facts.agentId;
  }

  get displayName(): string {
    return this.name || this.username;
  }

  hasRole(role: string): boolean {
    return this.roles.has(role);
  }

  isAdmin(): boolean {
    return this.roles.has(ROLE_ADMIN);
  }

  /** Returns the same user with other roles. */
  withRoles(roles: Iterable<string>): Principal {
    return new Principal({ ...this, roles: new Set(roles) });
  }
}

/** The principal of requests without credentials. */
export const anonymous = new Principal({
  username: 'anonymous',
  name: '',
  email: '',
  provider: 'inlet',
  roles: new Set([ROLE_ANONYMOUS]),
});

export const OTHER_AGENT = refusal(
  403,
  (agentId: string) => `This account may act for the capture agent '${agentId}' only.`,
  ['room-2'],
);

/** Requires an account that may act for this capture agent. @throws {HttpError} 403 */
export function requireOwnAgent({ agentId: own }: Principal, agentId: string): void {
  if (own !== undefined && own !== agentId) throw OTHER_AGENT(own);
}
