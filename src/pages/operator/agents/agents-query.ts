import { z } from 'zod';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { parseDay, parseWeek } from './local-days.ts';

/** The longest name of an agent. */
const MAX_SEARCH = 255;
const CONTROL = /\p{Cc}/u;
/** Seconds between two refreshes of the page. */
export const REFRESH = '30';

const shown = (value: unknown) => JSON.stringify(String(value).slice(0, 100));
const name = (parameter: string) =>
  z
    .string()
    .refine((text) => [...text].length <= MAX_SEARCH && !CONTROL.test(text) && text.isWellFormed(), {
      error: ({ input }) =>
        `The parameter '${parameter}' is ${shown(input)}; it must have at most ${MAX_SEARCH} characters, none of them a control character.`,
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
  /** Shows this agent only. */
  agent: name('agent'),
  /** The week of the plan of one agent. */
  week: day('week', parseWeek, 'a week such as 2026-W48, or a date in it such as 2026-11-25,'),
  /** The day of the plan of all agents. */
  day: day('day', parseDay, 'a date such as 2026-11-25'),
  /** Shows the agents with this text in their names. */
  q: name('q'),
  refresh: z
    .literal(REFRESH, {
      error: ({ input }) => `The parameter 'refresh' is ${shown(input)}; allowed is ${REFRESH}.`,
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

/** The content of the page about one agent or all agents. */
export interface AgentsPage {
  title: string;
  content: Html;
  /** The rules of its plan. */
  style: string;
}
