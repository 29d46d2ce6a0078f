import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { Principal } from '../principal.ts';

/** What tells two requests to the same resource apart. */
export interface RequestContent {
  fields: ReadonlyMap<string, string>;
  /** Files in the order of their parts; `sha256` stands for their bytes. */
  files?: readonly { name: string; filename: string; size: number; sha256: string }[];
}

/** A digest of a request: its method, its path and its content. The order of form fields does not matter. */
export function fingerprint(c: Context, { fields, files = [] }: RequestContent): string {
  return digest([
    c.req.method,
    c.req.path.replace(/\/+$/, ''),
    [...fields].sort(([a], [b]) => (a < b ? -1 : 1)),
    files.map(({ name, filename, size, sha256 }) => [name, filename, size, sha256]),
  ]);
}

/** A digest of who sends a request: the account that signed in, and whom it acts as, if it does. */
export function sender(c: Context): string {
  const { account, principal, signedIn } = c.var;
  return digest([
    signedIn?.provider ?? '',
    account ?? '',
    principal === signedIn ? null : effective(principal),
  ]);
}

function effective({ username, roles }: Principal) {
  return [username, [...roles].sort()];
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
