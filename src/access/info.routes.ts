import { Hono } from 'hono';
import { ORGANIZATION } from './organization.ts';
import { userRole } from './roles.ts';

const ENGAGE_URL = 'org.opencastproject.engage.ui.url';

/**
 * Who the caller is and what it belongs to. Mounted at `/api/info`.
 *
 * @param deps.publicUrl base of the URLs handed out, without a slash at its end
 */
export function infoRoutes(deps: { publicUrl: string }): Hono {
  const properties = { [ENGAGE_URL]: deps.publicUrl };
  return new Hono()
    .get('/me', (c) => {
      const { provider, name, email, username } = c.var.principal;
      return c.json({ provider, name, userrole: userRole(username), email, username });
    })
    .get('/me/roles', (c) => c.json([...c.var.principal.roles]))
    .get('/organization', (c) => c.json(ORGANIZATION))
    .get('/organization/properties', (c) => c.json(properties))
    .get('/organization/properties/engageuiurl', (c) => c.json(properties));
}
