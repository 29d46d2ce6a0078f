import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';

/** Where recordings are searched for. @param root where the server's paths begin */
export function searchForm(root: string, search = ''): Html {
  return html`<form class="tools" role="search" action="${root}admin/recordings"><input type="search" name="q" value="${search}" maxlength="255" size="40" aria-label="Title, identifier or request id" placeholder="Title, identifier or request id"><button>Search recordings</button></form>`;
}
