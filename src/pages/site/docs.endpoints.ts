import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { DOCS_ASSETS } from './docs-assets.ts';
import { CONTENT_SECURITY_POLICY, referencePage } from './docs-page.ts';

/** The API as a page for people. All of it comes from this server. */
export const docsPage = defineEndpoint({
  method: 'get',
  path: '/docs',
  access: 'public',
  handle: ({ c }) => {
    // Relative, so that the page works under whatever name and path a proxy shows it.
    const folder = new URL(c.req.url).pathname.endsWith('/') ? '.' : './docs';
    return c.html(referencePage(folder), 200, {
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-cache',
    });
  },
});

export const docsAsset = defineEndpoint({
  method: 'get',
  path: '/docs/{name}',
  access: 'public',
  handle: ({ c, params }) => DOCS_ASSETS.answer(c, params.name),
});
