import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/page.ts';
import type { PublicationAddresses } from '#publications/presentation.ts';

/** What the page about capture agents needs beside the request. */
export interface AgentsServices {
  database: Database;
  addresses: PublicationAddresses;
  config: { scheduling: { recordingGraceMs: number } };
}

/** Either form of the page before it is put into its frame. */
export interface AgentsPage {
  title: string;
  content: Html;
  /** What its plan needs beside the style of all of them. */
  style: string;
}
