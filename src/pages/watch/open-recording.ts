import type { Context } from 'hono';
import { html } from 'hono/html';
import { anonymous } from '#access/principal.ts';
import type { Config } from '#platform/config/config.ts';
import type { Database } from '#platform/database/kysely.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { findWatchableRecording } from '#publications/publication.queries.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { admit, type Denial, type Grant, NO_READ_ACCESS, visitOf } from '#publications/watch-access.ts';
import { type FileAddress, publicationLinks, relativeTo, rootFrom } from '../urls/relative-urls.ts';
import { startTime } from './browser/start-time.js';
import type { PublishedRecording } from './player-media.ts';

export interface RecordingServices {
  config: Pick<Config, 'statistics' | 'oldAddressStatus'>;
  database: Database;
  addresses: PublicationAddresses;
}

/** A recording that a page may show. */
interface OpenedRecording {
  recording: PublishedRecording;
  grant: Grant;
  /** Signs the URLs of files that need it, for the IP address of the page. */
  addressOf: FileAddress;
  /** The address that counts a view; undefined if none are counted. */
  views: string | undefined;
}

/** The reason why a page shows no recording. */
interface PageRefusal {
  status: 400 | 401 | 403 | 404 | 410;
  title: 'Sign in to watch' | 'No access' | 'This link does not work' | 'Recording not found';
  sentence: string;
  /** The text of a link to the sign-in page, where an account may help. */
  signIn?: string | undefined;
}

const MISSING: PageRefusal = {
  status: 404,
  title: 'Recording not found',
  sentence: 'The link may be incomplete, or the recording is no longer published. Ask for a new link.',
};

/** Opens a recording for a page of it, if the request is admitted. */
export async function openRecording(
  c: Context,
  { config, database, addresses }: RecordingServices,
  publicationId: string,
): Promise<OpenedRecording | { refusal: PageRefusal }> {
  const visit = visitOf(c, addresses, { isFile: false });
  const admission = await admit(visit, addresses, () =>
    findWatchableRecording(database, publicationId, c.get('principal') ?? anonymous),
  );
  if (!admission) return { refusal: MISSING };
  if (!admission.found) {
    const signIn = visit.account === undefined ? 'Sign in' : 'Sign in with another account';
    return { refusal: { ...titled(admission.denial), signIn: addresses.access === 'signed' ? undefined : signIn } };
  }
  const { found: recording, grant } = admission;
  const isSigned = addresses.access === 'signed' || (addresses.access === 'strict' && !recording.is_public);
  const source = grant.by === 'signature' ? grant.policy.source : undefined;
  const addressOf = publicationLinks(c, addresses, { isSigned, source, extraMs: recording.duration ?? 0 }).element;
  const views = config.statistics.isEnabled ? viewsAddress(c, addresses, { recording, grant }) : undefined;
  return { recording, grant, addressOf, views };
}

function viewsAddress(
  c: Context,
  { publicUrl, signer }: PublicationAddresses,
  { recording, grant }: Pick<OpenedRecording, 'recording' | 'grant'>,
): string {
  const url = `${publicUrl}/watch/${recording.id}/views`;
  const signed = grant.by === 'signature' && signer ? signer.sign(url, grant.policy) : url;
  return rootFrom(c) + signed.slice(publicUrl.length + 1);
}

function titled(denial: Denial): PageRefusal {
  const { status, sentence } = denial;
  if (status === 401) return { status, title: 'Sign in to watch', sentence };
  if (denial === NO_READ_ACCESS) return { status, title: 'No access', sentence };
  return { status, title: 'This link does not work', sentence: `${sentence} Ask for a new link.` };
}

/**
 * Returns the content of a page that shows no recording. Where an account helps, it links to the sign-in page; frames of
 * other sites get neither cookies nor that page, so they link to the watch page in a new tab.
 */
export function refusalHtml(c: Context, { title, sentence, signIn: text }: PageRefusal, publicationId: string): Html {
  const seconds = Math.floor(startTime(new URL(c.req.url)) ?? 0);
  const path = `/watch/${publicationId}${seconds > 0 ? `?t=${seconds}` : ''}`;
  const signIn = html`<a href="${relativeTo(c, '/sign-in')}?next=${path}">${text}</a>`;
  const newTab = html`<a href="${relativeTo(c, path)}" target="_blank" rel="noopener">Open the recording in a new tab</a>`;
  return html`<main>
<h1>${title}</h1>
<p>${sentence}</p>
${text ? html`<p>${isFramed(c) ? newTab : signIn}</p>` : ''}
</main>`;
}

/** Returns true in a frame, as far as the browser says so, and for pages that are made for frames. */
export function isFramed(c: Context): boolean {
  return c.req.header('Sec-Fetch-Dest') === 'iframe' || c.req.path.startsWith('/embed/');
}

/** Returns the headers of a page of a recording. Other sites, search engines and shared caches do not get its URL. */
export function pageHeaders(policy: string, grant?: Grant): Record<string, string> {
  const isShared = grant?.by === 'everyone' || grant?.by === 'link';
  return {
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
    'Cache-Control': isShared ? 'no-cache' : 'private, no-store',
  };
}
