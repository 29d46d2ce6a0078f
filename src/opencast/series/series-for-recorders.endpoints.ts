import { sql } from 'kysely';
import { z } from 'zod';
import { mayAccess } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { apiRole } from '#access/roles/api-roles.ts';
import { ROLE_CAPTURE_AGENT } from '#access/roles/roles.ts';
import { SERIES_ID } from '#catalogue/series/series-examples.ts';
import { formatInstant } from '#metadata/date-time.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { TEXT_ANSWER, textResponse } from '../text-answers.ts';

interface Services {
  config: Pick<Config, 'agentSeries'>;
  database: Database;
}

/** Upper limit for a list to choose from. */
const MOST = 5000;
const MOST_PAGE = 1000;
const USUAL_PAGE = 100;
const access = [ROLE_CAPTURE_AGENT, 'ROLE_STUDIO', ...apiRole('SERIES_VIEW')];

const WRONG_NUMBER = refusal(400, (name: string) => `The query parameter '${name}' must be a whole number from 0.`, [
  'limit',
]);
const number = (name: string) =>
  z
    .string()
    .trim()
    .regex(/^\d{0,9}$/, { error: WRONG_NUMBER.sentence(name) })
    .optional();

/** Series for recorders to choose from. */
export const SERIES_ENDPOINTS = [
  defineEndpoint({
    method: 'get',
    path: '/studio-api/series.json',
    access,
    summary: 'List series to record for',
    description: `Series that the account may write, by title, ${MOST} at most.`,
    answers: {
      200: {
        description: 'The series.',
        plain: true,
        body: z.array(z.object({ id: z.string(), title: z.string() })),
        example: [{ id: SERIES_ID, title: 'Algebra I' }],
      },
    },
    handle: async ({ c }, { database }: Services) => {
      const series = await database
        .selectFrom('series')
        .select(['id', 'title'])
        .where(mayAccess('series', c.var.principal, 'write'))
        .orderBy(sql`title COLLATE "und-x-icu"`)
        .orderBy('id')
        .limit(MOST)
        .execute();
      return c.json(series);
    },
  }),
  defineEndpoint({
    method: 'get',
    path: '/series/count',
    access,
    summary: 'Count series',
    description: 'Counts the series that the account may read; for a capture agent, those that `AGENT_SERIES` names.',
    answers: { 200: { description: 'The number of series.', ...TEXT_ANSWER, example: '42' } },
    handle: async ({ c }, services: Services) => textResponse(c, String(await visibleCount(services, c.var.principal))),
  }),
  defineEndpoint({
    method: 'get',
    path: '/admin-ng/series/series.json',
    access,
    summary: 'List series, for agents',
    description:
      'The series that the account may read, by title; for a capture agent, those that it may write, or all with `AGENT_SERIES=all`.',
    query: z.object({
      offset: number('offset').describe('Number of series to skip.'),
      limit: number('limit').describe(
        `Number of series to return. The default is ${USUAL_PAGE}, the maximum ${MOST_PAGE}.`,
      ),
    }),
    answers: {
      200: {
        description: 'A page of series.',
        plain: true,
        body: z.object({
          total: z.int(),
          offset: z.int(),
          limit: z.int(),
          count: z.int(),
          results: z.array(z.looseObject({ id: z.string(), title: z.string(), creation_date: z.string() })),
        }),
        example: {
          ...{ total: 1, offset: 0, limit: 100, count: 1 },
          results: [{ id: SERIES_ID, title: 'Algebra I', creation_date: '2026-10-01T08:00:00Z', organizers: [] }],
        },
      },
    },
    refusals: [WRONG_NUMBER],
    handle: async ({ c, query }, services: Services) => {
      const given = query();
      const offset = Number(given.offset || 0);
      const limit = Math.min(Number(given.limit || USUAL_PAGE) || USUAL_PAGE, MOST_PAGE);
      const rows = await visible(services, c.var.principal)
        .select(['id', 'title', 'created', 'organizers', 'contributors'])
        .orderBy(sql`title COLLATE "und-x-icu"`)
        .orderBy('id')
        .offset(offset)
        .limit(limit)
        .execute();
      const results = rows.map(({ created, ...series }) => ({ ...series, creation_date: formatInstant(created) }));
      const total = await visibleCount(services, c.var.principal);
      return c.json({ total, offset, limit, count: results.length, results });
    },
  }),
];

/** Selects the series that an account may read, or for which an agent may record. */
function visible({ config, database }: Services, principal: Principal) {
  const series = database.selectFrom('series');
  if (!principal.hasRole(ROLE_CAPTURE_AGENT)) return series.where(mayAccess('series', principal, 'read'));
  return config.agentSeries === 'all' ? series : series.where(mayAccess('series', principal, 'write'));
}

async function visibleCount(services: Services, principal: Principal): Promise<number> {
  const { count } = await visible(services, principal)
    .select(sql<number>`count(*)::integer`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
