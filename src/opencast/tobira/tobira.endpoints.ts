import { z } from 'zod';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { numberChanges } from '#changes/read-changes.ts';
import { changedResources } from '#changes/resource-times.ts';
import type { Database } from '#platform/database/kysely.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { HarvestItem, harvestItems } from './harvest-items.ts';

/** The version of the protocol that has all fields of the items. */
const VERSION = '1.6';
const MAX_AMOUNT = 1000;

export const INVALID_NUMBER = refusal(
  400,
  (name: string, least: number) =>
    `The parameter '${name}' must be a whole number from ${least} to ${Number.MAX_SAFE_INTEGER}.`,
  ['since', 0],
);

const wholeNumber = (name: string, least: number) =>
  z
    .string({ error: INVALID_NUMBER.sentence(name, least) })
    .regex(/^\d{1,16}$/, { error: INVALID_NUMBER.sentence(name, least) })
    .transform(Number)
    .refine((value) => value >= least && Number.isSafeInteger(value), { error: INVALID_NUMBER.sentence(name, least) });

const tobiraVersion = defineEndpoint({
  method: 'get',
  path: '/tobira/version',
  access: ADMINISTRATORS,
  summary: 'Read the version of the portal protocol',
  description: 'Portals check it before they harvest.',
  answers: {
    200: {
      description: 'The version.',
      plain: true,
      body: z.object({ version: z.string() }),
      example: { version: VERSION },
    },
  },
  handle: ({ c }) => c.json({ version: VERSION }),
});

const harvest = defineEndpoint({
  method: 'get',
  path: '/tobira/harvest',
  access: ADMINISTRATORS,
  summary: 'Harvest published events, series and playlists',
  description:
    'Returns what changed after a time, in the order of `updated`: about as many items as wanted, and more when many share the last time. The next request passes `includesItemsUntil` as `since`. No change is skipped, also not of a transaction that was open during a request.',
  query: z.object({
    since: wholeNumber('since', 0).meta({
      description: '`includesItemsUntil` of the last response, or 0.',
      example: '0',
    }),
    preferredAmount: wholeNumber('preferredAmount', 1).meta({
      description: `The wanted number of items, at most ${MAX_AMOUNT}.`,
      example: '500',
    }),
  }),
  answers: {
    200: {
      description: 'Changed items.',
      plain: true,
      body: z.object({
        includesItemsUntil: z.int().describe('Milliseconds since 1970.'),
        hasMore: z.boolean(),
        items: z.array(HarvestItem),
      }),
      example: {
        includesItemsUntil: 1_788_256_800_000,
        hasMore: false,
        items: [{ kind: 'event-deleted', id: '7a1e9c1f-1ac8-4dbb-8d6c-7f8c3a6b1d52', updated: 1_788_256_799_000 }],
      },
    },
  },
  refusals: [INVALID_NUMBER],
  handle: async ({ c, query }, { config, database }: { config: { publicUrl: string }; database: Database }) => {
    const { since, preferredAmount } = query();
    await numberChanges(database);
    const amount = Math.min(preferredAmount, MAX_AMOUNT);
    const { resources, until, hasMore } = await changedResources(database, since, amount);
    const items = await harvestItems(database, resources, config.publicUrl);
    return c.json({ includesItemsUntil: until, hasMore, items });
  },
});

const stats = defineEndpoint({
  method: 'post',
  path: '/tobira/stats',
  access: ADMINISTRATORS,
  summary: 'Accept statistics of the portal',
  description: 'The portal sends them once a day. They are not kept.',
  answers: { 204: { description: 'The statistics were received.' } },
  handle: ({ c }) => c.body(null, 204),
});

/** The endpoints of the portal Tobira. */
export const PORTAL = {
  name: 'Portal',
  description: 'The protocol of the video portal Tobira.',
  endpoints: [tobiraVersion, harvest, stats],
};
