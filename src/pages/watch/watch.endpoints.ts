import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Database } from '#platform/database/kysely.ts';
import { Assets, browserModules } from '#platform/http/answer/asset.ts';
import { type Html, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { findWatchableRecording } from '#publications/publication.queries.ts';
import { type PublicationElement, renditionsOfTracks } from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { checkSignature } from '#publications/signing/url-signer.ts';
import { formatSize } from '../upload/browser/card-text.js';
import { type FileAddress, publicationLinks, rootFrom } from '../urls/relative-urls.ts';
import { clock } from './browser/clock.js';
import { labelOf, playerHtml } from './player-html.ts';
import { type PublishedRecording, playerOf } from './player-media.ts';
import { STYLE } from './watch-style.ts';

/** Allows only files of this server. Other sites may frame the page. */
const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: STYLE },
  "script-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
);

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function recordingPage(
  recording: PublishedRecording,
  { addressOf, script }: { addressOf: FileAddress; script: string },
): Html {
  const player = playerOf(recording, addressOf);
  const title = recording.title || 'Untitled recording';
  const facts = [
    recording.presenters.join(', '),
    html`<time datetime="${recording.start_date.toISOString()}">${DATE.format(recording.start_date)} UTC</time>`,
    player ? clock(player.duration / 1000) : '',
  ];
  return page(
    title,
    html`<script type="module" src="${script}"></script>
${player ? playerHtml(player, addressOf) : ''}
<main>
${recording.series_title ? html`<p class="series">${recording.series_title}</p>` : ''}
<h1>${title}</h1>
<p class="facts">${facts.filter((fact) => fact !== '').map((fact) => html`<span>${fact}</span>`)}</p>
${player ? '' : html`<p>This publication has nothing to play.</p>`}
${recording.description ? html`<p class="description">${recording.description}</p>` : ''}
${rightsHtml(recording)}
${downloadsHtml(renditionsOfTracks(recording).flat(), addressOf)}
</main>`,
    { style: STYLE },
  );
}

/** The page for a URL that shows no recording. */
function refusedPage(title: string, reason: string): Html {
  return page(
    title,
    html`<main>
<h1>${title}</h1>
<p>${reason} Ask for a new link.</p>
</main>`,
    { style: STYLE },
  );
}

function rightsHtml({ rights_holder, license }: PublishedRecording): Html | '' {
  const terms = license === 'ALLRIGHTS' ? 'All rights reserved' : license.replace(/^CC-/, 'CC ');
  const rights = [rights_holder && `© ${rights_holder}`, terms].filter((text) => text !== '');
  return rights.length > 0 ? html`<p class="facts">${rights.map((text) => html`<span>${text}</span>`)}</p>` : '';
}

function downloadsHtml(media: readonly PublicationElement[], addressOf: FileAddress): Html | '' {
  if (media.length === 0) return '';
  return html`<h2>Download</h2>
<ul>
${media.map(
  (element) =>
    html`<li><a href="${addressOf(element)}" download="${element.filename}">${labelOf(element.flavor)} <small>${formatOf(element)}, ${formatSize(element.size)}</small></a></li>`,
)}
</ul>`;
}

function formatOf({ has_video, mediatype }: PublicationElement): string {
  const format = mediatype.split('/')[1]?.toUpperCase() ?? '';
  return `${has_video ? 'video' : 'audio'} ${format}`.trim();
}

const MODULES = new Assets(browserModules(new URL('./browser/', import.meta.url)));
const HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  // The URL alone gives access, so no other site and no search engine may get it.
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

interface Services {
  database: Database;
  addresses: PublicationAddresses;
}

/**
 * Shows a publication to everyone who has its unguessable URL. If Inlet signs, that URL must be signed, and the page signs
 * the URLs of its files.
 */
export const watchPage = defineEndpoint({
  method: 'get',
  path: '/watch/{publication_id}',
  access: 'public',
  handle: async ({ c, params }, { database, addresses }: Services) => {
    const { publicUrl, signer } = addresses;
    const refuse = (status: ContentfulStatusCode, title: string, reason: string) =>
      c.html(refusedPage(title, reason), status, { ...HEADERS, 'Cache-Control': 'no-store' });
    const checked = signer && checkSignature(c, { publicUrl, signer });
    if (checked && 'refusal' in checked) {
      return refuse(checked.refusal.status, 'This link does not work', checked.refusal.sentence);
    }
    const recording = await findWatchableRecording(database, params.publication_id);
    if (!recording) {
      const reason = 'The link may be incomplete, or the recording is no longer published.';
      return refuse(404, 'Recording not found', reason);
    }
    // The URLs of the files are for the IP address of the page.
    const terms = { extraMs: recording.duration ?? 0, source: checked?.policy.source };
    const addressOf = publicationLinks(c, addresses, terms).element;
    const script = `${rootFrom(c)}watch/assets/player.js`;
    const caching = signer ? 'private, no-store' : 'no-cache';
    return c.html(recordingPage(recording, { addressOf, script }), 200, { ...HEADERS, 'Cache-Control': caching });
  },
});

/** The scripts of the page. They hold nothing of a recording and need no signature. */
export const watchAsset = defineEndpoint({
  method: 'get',
  path: '/watch/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => MODULES.answer(c, params.name),
});
