import type { Context, MiddlewareHandler } from 'hono';
import type { Authenticator } from './authenticator.ts';
import { parseBasic } from './credentials.ts';
import { anonymous } from './principal.ts';
import { challenge } from './url-roles.ts';

/**
 * HTTP Basic: sets `c.var.principal` and `c.var.account`. A request without credentials goes on as the anonymous
 * principal (the middleware after this one decides whether that will do); wrong or unreadable ones are refused with
 * 401 whatever the path.
 *
 * @param clientAddress the address of the other end of the connection
 */
export function authenticate(
  authenticator: Authenticator,
  clientAddress: (c: Context) => string,
): MiddlewareHandler {
  return async (c, next) => {
    const header = c.req.header('Authorization');
    if (header === undefined) {
      c.set('principal', anonymous);
    } else {
      const credentials = parseBasic(header);
      if (!credentials) throw challenge('The Authorization header is not one of HTTP Basic.');
      const { username, password } = credentials;
      const principal = await authenticator.authenticate(username, password, clientAddress(c));
      if (!principal) throw challenge('User name or password is wrong.');
      c.set('principal', principal);
      c.set('account', principal.username);
    }
    await next();
  };
}
