import { z } from 'zod';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';
import { parseDay, parseWeek } from './local-days.ts';

/** As long as the name of an agent may be. */
const MAX_SEARCH = 255;
const CONTROL = /\p{Cc}/u;
/** Seconds between two looks of a browser that keeps the page up to date. */
export const REFRESH = '30';

const shown = (value: unknown) => JSON.stringify(String(value).slice(0, 100));
const name = (parameter: string) =>
  z
    .string()
    .refine((text) => text.length <= 2 * MAX_SEARCH && !CONTROL.test(text) && text.isWellFormed(), {
      error: ({ input }) =>
        `The parameter '${parameter}' is ${shown(input)}; allowed are up to ${MAX_SEARCH} characters, none of them a control character.`,
    })
    .optional();
const day = (parameter: string, parse: (text: string) => number | undefined, allowed: string) =>
  z
    .string()
    .transform((text, context) => {
      const parsed = parse(text);
      if (parsed !== undefined) return parsed;
      const message = `The parameter '${parameter}' is ${shown(text)}; allowed is ${allowed} between 1970 and 9998.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .optional();

/** Parameters of the page about capture agents. */
export const AgentsQuery = z.object({
  /** The one agent that is to be shown. */
  agent: name('agent'),
  /** Of whose plan this week is. */
  week: day('week', parseWeek, 'a week such as 2026-W48, or a date in it such as 2026-11-25,'),
  /** The day of the plan of all agents. */
  day: day('day', parseDay, 'a date such as 2026-11-25'),
  /** A part of the names of those that are to be shown. */
  q: name('q'),
  refresh: z
    .literal(REFRESH, {
      error: ({ input }) => `The parameter 'refresh' is ${shown(input)}; allowed is ${REFRESH}.`,
    })
    .optional(),
});
export type AgentsQuery = z.infer<typeof AgentsQuery>;

/** The page with other parameters; those that are undefined are left out. Relative to the page itself. */
export function addressOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((each): each is [string, string] => Boolean(each[1]));
  return `?${new URLSearchParams(given)}`;
}

/** Services that the page about capture agents reads from. */
export interface AgentsServices {
  database: Database;
  addresses: PublicationAddresses;
  config: { scheduling: { recordingGraceMs: number } };
}

/** Either form of the page before it is put into its frame. */
export interface AgentsPage {
  title: string;
  content: Html;
  /** Rules that place the parts of its plan. */
  style: string;
}
