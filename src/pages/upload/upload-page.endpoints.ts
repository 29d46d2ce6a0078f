import { apiRole } from '#access/roles/api-roles.ts';
import { userRole } from '#access/roles/roles.ts';
import { Assets, packaged, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { browserModules } from '#platform/http/answer/browser-modules.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import type { PublicationAddresses } from '#publications/index.ts';
import { rootFrom } from '../sign-in/sign-in-page.ts';
import { CONTENT_SECURITY_POLICY, uploadPage } from './upload-page.ts';

/** The modules of the page, and the tus client as its package has it for browsers. */
const UPLOAD_ASSETS = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'tus.min.js': packaged('tus-js-client/dist/tus.min.js', SCRIPT_TYPE),
});

/** The page on which people upload recordings with a browser. All of it comes from this server. */
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
      // The page checks that it still belongs to this account.
      'Inlet-Account': encodeURIComponent(username),
    });
  },
});

/** The scripts of the page. */
export const uploadAsset = defineEndpoint({
  method: 'get',
  path: '/upload/{name}',
  access: 'public',
  handle: ({ c, params }) => UPLOAD_ASSETS.answer(c, params.name),
});
