import type { Database } from '../../src/database/kysely.ts';

export const AGENTS_PATH = '/admin/agents';
/** What would be more than a name if it was not escaped. */
export const HOSTILE = `</bdi><script>alert(1)</script>"' onload='x' <img src=x>&amp;`;

/** What a person reads of a piece of the page, without what is there for looks. */
export const words = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
/** What is told of each agent, in the order in which they stand there. */
export const agents = (html: string) =>
  (/<ul class="agents">(.*?)<\/ul>/s.exec(html)?.[1] ?? '').split('<li>').slice(1).map(words);
export const section = (html: string, id: string) =>
  words(new RegExp(`<section aria-labelledby="${id}">(.*?)</section>`, 's').exec(html)?.[1] ?? '');
export const blocks = (html: string) =>
  [...html.matchAll(/<li class="block ([^"]*)" title="([^"]*)">/g)].map(([, classes, title]) => [
    classes,
    title,
  ]);

/** Leaves no agent and nothing that was to be recorded. */
export async function removeAgents(database: Database): Promise<void> {
  for (const table of ['events', 'capture_agents', 'drafts'] as const)
    await database.deleteFrom(table).execute();
}
