import { z } from 'zod';
import { WRONG_PASSWORD } from '#access/access-errors.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { Authenticator } from '#access/sign-in/authenticator.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { HttpError } from '#platform/http/errors/errors.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { destination, PAGE_HEADERS, relativeTo, signInPage } from './sign-in-page.ts';

interface Services {
  authenticator: Authenticator;
  sessions: Sessions;
}

const PATH = '/sign-in';

/** Where people sign in. Nothing about them is looked up before they send the form. */
export const signInForm = defineEndpoint({
  method: 'get',
  path: PATH,
  access: 'public',
  query: z.object({ next: z.string().optional() }),
  handle: ({ c, query }) => {
    const next = destination(query().next);
    return c.html(signInPage({ action: relativeTo(c, PATH), next }), 200, PAGE_HEADERS);
  },
});

/** Throttled as passwords are everywhere; what an unknown name gets differs in nothing from what a wrong password gets. */
export const signIn = defineEndpoint({
  method: 'post',
  path: PATH,
  access: 'public',
  form: {
    schema: z.object({ username: z.string(), password: z.string(), next: z.string().optional() }),
    // Anybody may send it.
    maxBytes: 16 * 1024,
    example: { username: 'admin', password: 'secret' },
  },
  handle: async ({ c, form }, { authenticator, sessions }: Services) => {
    const { username, password, next } = await form();
    const wanted = destination(next);
    try {
      const possible = !`${username}${password}`.includes('\0');
      const account = possible && (await authenticator.signIn(username, password, remoteAddress(c)));
      if (!account) throw WRONG_PASSWORD();
      c.set('account', username);
      await sessions.begin(c, account);
      return c.redirect(relativeTo(c, wanted), 303);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const { status, message, headers } = error;
      const { 'WWW-Authenticate': _, ...kept } = headers;
      const page = signInPage({ action: relativeTo(c, PATH), next: wanted, username, fault: message });
      return c.html(page, status, { ...kept, ...PAGE_HEADERS });
    }
  },
});

export const signOut = defineEndpoint({
  method: 'post',
  path: '/sign-out',
  access: 'public',
  handle: async ({ c }, { sessions }: Services) => {
    await sessions.end(c);
    return c.redirect(relativeTo(c, PATH), 303);
  },
});
