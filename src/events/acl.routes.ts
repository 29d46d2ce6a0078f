import { Hono } from 'hono';
import { aclsOf, requireAccess } from '../access/acl.queries.ts';
import { allowingEntry, parseStrictAcl } from '../access/acl.ts';
import type { Principal } from '../access/principal.ts';
import type { Database } from '../database/kysely.ts';
import { inTransaction } from '../database/retry.ts';
import { badRequest, forbidden } from '../http/errors.ts';
import { readFields } from '../http/form.ts';
import { versionedJson } from '../http/version.ts';
import type { AclEdit } from './update/acl.ts';
import { updateEvent } from './update/update-event.ts';

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
    const entries = parseStrictAcl(await field(c.req.raw, 'acl'));
    await changeAcl(database, c.var.principal, id, { kind: 'replace', entries });
    return c.body(null, 204);
  });

  app.post('/api/events/:id/acl/:action', async (c) => {
    const { id, action } = c.req.param();
    await requireAccess(database, 'events', c.var.principal, id, 'write');
    const entry = allowingEntry(action, await field(c.req.raw, 'role'));
    await changeAcl(database, c.var.principal, id, { kind: 'add', entry });
    return c.body(null, 204);
  });

  app.delete('/api/events/:id/acl/:action/:role', async (c) => {
    const { id, action, role } = c.req.param();
    await changeAcl(database, c.var.principal, id, { kind: 'remove', action, role });
    return c.body(null, 204);
  });

  return app;
}

/** While a workflow is active, the list stays as it is. */
function changeAcl(database: Database, principal: Principal, id: string, acl: AclEdit) {
  const refusals = { processing: () => forbidden('') };
  return inTransaction(database, (trx) => updateEvent(trx, id, { acl }, { principal, refusals }));
}

async function field(request: Request, name: string): Promise<string> {
  const value = (await readFields(request)).get(name);
  if (value === undefined) throw badRequest(`Missing form parameter '${name}'`);
  return value;
}
