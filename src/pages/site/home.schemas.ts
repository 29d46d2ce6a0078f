import { z } from 'zod';

/** What runs here, and where to go on. */
export const Home = z
  .object({
    name: z.literal('Inlet'),
    version: z.string().describe('Of the program; the API has versions of its own.'),
    description: z.string(),
    links: z.object({
      api: z.url().describe('The API.'),
      docs: z.url().describe('Its reference for people.'),
      openapi: z.url().describe('Its reference for programs.'),
    }),
  })
  .meta({ id: 'Home' });
export type Home = z.infer<typeof Home>;
