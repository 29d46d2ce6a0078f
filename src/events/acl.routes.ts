import { Hono } from 'hono';
import { aclsOf, requireAccess } from '../access/acl.queries.ts';
import { MAX_ENTRIES } from '../access/acl.schemas.ts';
import { type AclEntry, allowingEntry, parseStrictAcl } from '../access/acl.ts';
import type { Principal } from '../access/principal.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { badRequest, forbidden, notFound } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import { isActive } from '../workflows/states.ts';
import { countVersion, lockEvent } from './lock-event.ts';
import { writeAcl } from './write-acl.ts';

/**
 * `/api/events/{id}/acl`: the event's own access control list, read and changed (compatibility 3.8). While a workflow
 * is active it stays as it is (403).
 */
export function eventAclRoutes({ database }: { database: Database }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/events/:id/acl', async (c) => {
    const id = c.req.param('id');
    await requireAccess(database, 'events', c.var.principal, id, 'read');
    return versionedJson(c, (await aclsOf(database, 'events', [id])).get(id) ?? []);
  });

  app.put('/api/events/:id/acl', async (c) => {
    const id = c.req.param('id');
    await requireAccess(database, 'events', c.var.principal, id, 'write');
    const acl = parseStrictAcl(await field(c.req.raw, 'acl'));
    await changeAcl(database, c.var.principal, id, () => acl);
    return c.body(null, 204);
  });

  app.post('/api/events/:id/acl/:action', async (c) => {
    const { id, action } = c.req.param();
    await requireAccess(database, 'events', c.var.principal, id, 'write');
    const entry = allowingEntry(action, await field(c.req.raw, 'role'));
    await changeAcl(database, c.var.principal, id, (acl) => withEntry(acl, entry));
    return c.body(null, 204);
  });

  app.delete('/api/events/:id/acl/:action/:role', async (c) => {
    const { id, action, role } = c.req.param();
    await changeAcl(database, c.var.principal, id, (acl) => {
      const rest = acl.filter((entry) => !matches(entry, action, role));
      if (rest.length < acl.length) return rest;
      throw notFound(`Unable to find an access control entry with action '${action}' and role '${role}'`);
    });
    return c.body(null, 204);
  });

  return app;
}

async function changeAcl(
  database: Database,
  principal: Principal,
  id: string,
  change: (acl: readonly AclEntry[]) => AclEntry[],
): Promise<void> {
  await inTransaction(database, async (trx) => {
    const event = await lockEvent(trx, id, principal);
    const changed = change((await aclsOf(trx, 'events', [id])).get(id) ?? []);
    if (isActive(event.processing_state)) throw forbidden('');
    if (await writeAcl(trx, id, changed)) await countVersion(trx, id);
  });
}

/** An entry for the same pair of action and role, whatever it says, gives way to this one. @throws {HttpError} 400 */
function withEntry(acl: readonly AclEntry[], entry: AclEntry): AclEntry[] {
  if (!acl.some(({ action, role }) => matches(entry, action, role))) {
    if (acl.length < MAX_ENTRIES) return [...acl, entry];
    throw badRequest(`An access control list has at most ${MAX_ENTRIES} entries.`);
  }
  return acl.map((each) => (matches(each, entry.action, entry.role) ? entry : each));
}

function matches(entry: AclEntry, action: string, role: string): boolean {
  return entry.action === action && entry.role === role;
}

async function field(request: Request, name: string): Promise<string> {
  const value = (await readFields(request)).get(name);
  if (value === undefined) throw badRequest(`Missing form parameter '${name}'`);
  return value;
}
