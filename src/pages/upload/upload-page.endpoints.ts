import { apiRole } from '#access/roles/api-roles.ts';
import { userRole } from '#access/roles/roles.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { PublicationAddresses } from '#publications/index.ts';
import { rootFrom } from '../sign-in/sign-in-page.ts';
import { UPLOAD_ASSETS } from './assets.ts';
import { CONTENT_SECURITY_POLICY, uploadPage } from './page.ts';

/** Where people upload recordings with a browser. All of it comes from this server. */
export const uploadingPage = defineEndpoint({
  method: 'get',
  path: '/upload',
  access: apiRole('EVENTS_CREATE'),
  handle: ({ c }, { addresses }: { addresses: PublicationAddresses }) => {
    const { username } = c.var.principal;
    const content = uploadPage({
      username,
      role: userRole(username),
      inSession: c.get('inSession') === true,
      signed: addresses.signer !== undefined,
      root: rootFrom(c),
    });
    return c.html(content, 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-store',
      // For the page, which asks whether it is still this account's.
      'Inlet-Account': encodeURIComponent(username),
    });
  },
});

/** The scripts of the page; nobody's secret. */
export const uploadAsset = defineEndpoint({
  method: 'get',
  path: '/upload/{name}',
  access: 'public',
  handle: ({ c, params }) => UPLOAD_ASSETS.answer(c, params.name),
});
