import { html } from 'hono/html';
import type { Html } from '../../http/answer/page.ts';
import { ageOf, minuteOf } from '../frame/words.ts';

/** How long something lasts already; the point in time itself, in UTC, is there for whoever points at it. */
export function age(since: Date, now: Date): Html {
  return html`<time datetime="${since.toISOString()}" title="since ${minuteOf(since)} UTC">${ageOf(since, now)}</time>`;
}

/** The title of a recording, which may be empty. */
export function titleOf({ title }: { title: string }): Html {
  return title.trim() === '' ? html`<span>Untitled</span>` : html`<bdi>${title}</bdi>`;
}

/** A link to where an agent says that it can be reached, named after its host; only the text if a browser should not go there. */
export function addressLink(url: string): Html {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  return address?.protocol === 'http:' || address?.protocol === 'https:'
    ? html`<a href="${address.href}" rel="noreferrer"><bdi>${address.host}</bdi></a>`
    : html`<bdi>${url}</bdi>`;
}
