import { Hono } from 'hono';
import { checked } from '../http/check.ts';
import { notFound } from '../http/errors.ts';
import { versionedJson } from '../http/version.ts';
import type { ListEntry, ListProviders } from './list-providers.ts';
import { ListQuery } from './schemas.ts';

const SUFFIX = '.json';

/** `GET /api/listproviders/...`: the values that clients may offer for metadata fields (compatibility 6). */
export function listProviderRoutes({ lists }: { lists: ListProviders }): Hono {
  const app = new Hono({ strict: false });

  app.get('/api/listproviders/providers.json', (c) => versionedJson(c, [[...lists.keys()]]));

  app.get('/api/listproviders/:file', (c) => {
    const file = c.req.param('file');
    const entries = file.endsWith(SUFFIX) ? lists.get(file.slice(0, -SUFFIX.length)) : undefined;
    if (!entries) throw notFound('');
    const { filter, limit, offset = 0 } = checked(ListQuery, c.req.query());
    const chosen = entries.filter(matching(filter ?? ''));
    const page = chosen.slice(offset, limit && offset + limit);
    return versionedJson(c, Object.fromEntries(page.map(({ key, label, text }) => [key, text ?? label])));
  });

  return app;
}

/** Whether a text is part of the value or of its label, in any case of letters. */
function matching(filter: string): (entry: ListEntry) => boolean {
  const part = filter.toLowerCase();
  return ({ key, label }) => key.toLowerCase().includes(part) || label.toLowerCase().includes(part);
}
