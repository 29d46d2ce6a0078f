import { z } from 'zod';
import type { Database } from '#platform/database/kysely.ts';
import { quoted } from '#platform/text/excerpt.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { searchText } from '../frame/search-text.ts';
import { parseDay, parseWeek } from './local-days.ts';

/** Seconds between two refreshes of the page. */
export const REFRESH = '30';

const day = (parameter: string, parse: (text: string) => number | undefined, allowed: string) =>
  z
    .string()
    .transform((text, context) => {
      const parsed = parse(text);
      if (parsed !== undefined) return parsed;
      const message = `The parameter '${parameter}' is ${quoted(text)}; allowed is ${allowed} between 1970 and 9998.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .optional();

/** Parameters of the page about capture agents. */
export const AgentsQuery = z.object({
  /** Shows this agent only. */
  agent: searchText('agent'),
  /** The week of the plan of one agent. */
  week: day('week', parseWeek, 'a week such as 2026-W48, or a date in it such as 2026-11-25,'),
  /** The day of the plan of all agents. */
  day: day('day', parseDay, 'a date such as 2026-11-25'),
  /** Shows the agents with this text in their names. */
  q: searchText('q'),
  refresh: z
    .literal(REFRESH, {
      error: ({ input }) => `The parameter 'refresh' is ${quoted(input)}; allowed is ${REFRESH}.`,
    })
    .optional(),
});
export type AgentsQuery = z.infer<typeof AgentsQuery>;

/** Returns the relative URL of the page with these parameters, without undefined ones. */
export function addressOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((each): each is [string, string] => Boolean(each[1]));
  return `?${new URLSearchParams(given)}`;
}

export interface AgentsServices {
  database: Database;
  addresses: PublicationAddresses;
  config: { scheduling: { recordingGraceMs: number } };
}
