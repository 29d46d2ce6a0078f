import { refusal } from '#platform/http/errors/refusal.ts';
import { ROLE_ADMIN, ROLE_ANONYMOUS } from './roles/roles.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The user whose rights apply to events and series: the account, or the user it acts as. */
    principal: Principal;
    /** The account that signed in; undefined for an anonymous request. */
    signedIn: Principal | undefined;
  }
}

/** The user a request acts for, with the roles that decide what it may do. */
export class Principal {
  readonly username: string;
  /** For people to read; may be empty. */
  readonly name: string;
  readonly email: string;
  /** The keeper of the account: this server or the identity provider. */
  readonly provider: string;
  readonly roles: ReadonlySet<string>;
  /** The one capture agent that it may speak for; undefined where roles alone decide. */
  readonly agentId: string | undefined;

  constructor(facts: {
    username: string;
    name: string;
    email: string;
    provider: string;
    roles: ReadonlySet<string>;
    agentId?: string | undefined;
  }) {
    this.username = facts.username;
    this.name = facts.name;
    this.email = facts.email;
    this.provider = facts.provider;
    this.roles = facts.roles;
    this.agentId = facts.agentId;
  }

  /** The name for people, else the user name. */
  get displayName(): string {
    return this.name || this.username;
  }

  hasRole(role: string): boolean {
    return this.roles.has(role);
  }

  isAdmin(): boolean {
    return this.roles.has(ROLE_ADMIN);
  }

  /** The same person with other roles instead of its own. */
  withRoles(roles: Iterable<string>): Principal {
    return new Principal({
      username: this.username,
      name: this.name,
      email: this.email,
      provider: this.provider,
      roles: new Set(roles),
      agentId: this.agentId,
    });
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

/** Refuses an account that was made for another capture agent. */
export const OTHER_AGENT = refusal(
  403,
  (agentId: string) => `This account is for the capture agent '${agentId}' alone.`,
  ['room-2'],
);

/** Returns the one capture agent that an account was made for; undefined where roles alone decide. */
export function boundAgent(principal: Principal): string | undefined {
  return principal.agentId;
}

/**
 * Keeps an account that was made for one capture agent from doing anything for another one.
 *
 * @throws {HttpError} 403
 */
export function requireOwnAgent(principal: Principal, agentId: string): void {
  const own = boundAgent(principal);
  if (own !== undefined && own !== agentId) throw OTHER_AGENT(own);
}
