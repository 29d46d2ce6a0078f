import { ROLE_ADMIN, ROLE_ANONYMOUS } from './roles/roles.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Whose rights apply to events and series: the account, or whom it acts as. */
    principal: Principal;
    /** The account that signed in; undefined when nobody did. */
    signedIn: Principal | undefined;
  }
}

/** Somebody a request acts for, with the roles that decide what it may do. */
export class Principal {
  readonly username: string;
  /** For people to read; may be empty. */
  readonly name: string;
  readonly email: string;
  /** Where the account is kept. */
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

/** Nobody in particular. */
export const anonymous = new Principal({
  username: 'anonymous',
  name: '',
  email: '',
  provider: 'inlet',
  roles: new Set([ROLE_ANONYMOUS]),
});
