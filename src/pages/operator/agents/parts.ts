import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';

/** A link to where an agent says that it can be reached, named after its host; only the text if a browser should not go there. */
export function addressLink(url: string): Html {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  return address?.protocol === 'http:' || address?.protocol === 'https:'
    ? html`<a href="${address.href}" rel="noreferrer"><bdi>${address.host}</bdi></a>`
    : html`<bdi>${url}</bdi>`;
}
