import { expect } from 'vitest';
import type { TestApp } from './app.ts';

/** A page of a list as a client gets it. */
export interface ListPage {
  ids: string[];
  rows: Record<string, unknown>[];
  total: string;
  headers: Headers;
  /** Paths with queries, by relation. */
  links: Record<string, string>;
}

/** Reads a page that must be there. */
export async function readPage(app: TestApp, path: string, headers: Record<string, string> = {}): Promise<ListPage> {
  const answer = await app.request(path, { headers });
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
  const rows = (await answer.json()) as Record<string, unknown>[];
  const links = (answer.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([^"]*)"/g);
  return {
    ids: rows.map(({ identifier }) => String(identifier)),
    rows,
    total: `${answer.headers.get('X-Total-Count-Relation')} ${answer.headers.get('X-Total-Count')}`,
    headers: answer.headers,
    links: Object.fromEntries([...links].map(([, url = '', relation = '']) => [relation, pathOf(url)])),
  };
}

/** Follows a relation from page to page, up to 1000 times. */
export async function follow(
  app: TestApp,
  path: string,
  relation: 'next' | 'prev' = 'next',
  headers: Record<string, string> = {},
): Promise<ListPage[]> {
  const pages: ListPage[] = [];
  for (let next: string | undefined = path; next !== undefined && pages.length < 1000; ) {
    const page = await readPage(app, next, headers);
    pages.push(page);
    next = page.links[relation];
  }
  return pages;
}

/** The status and the sentence of a request that is refused. */
export async function refusal(
  app: TestApp,
  path: string,
  headers: Record<string, string> = {},
): Promise<[number, string]> {
  const answer = await app.request(path, { headers });
  return [answer.status, await answer.text()];
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
