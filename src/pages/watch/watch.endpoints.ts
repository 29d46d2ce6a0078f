import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Database } from '#platform/database/kysely.ts';
import { Assets, browserModules } from '#platform/http/answer/asset.ts';
import { type Html, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { findWatchableRecording } from '#publications/publication.queries.ts';
import { elementsOf, elementUrl, type PublicationElement } from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import { checkSignature, type Policy, type SignatureCheck } from '#publications/signing/url-signer.ts';
import { formatSize } from '../upload/browser/card-text.js';
import { clock } from './browser/clock.js';
import { labelOf, playerHtml } from './player-html.ts';
import { type FileAddress, type PublishedRecording, playerOf } from './player-media.ts';
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
${downloadsHtml(elementsOf(recording, 'media'), addressOf)}
</main>`,
    { style: STYLE },
  );
}

function missingPage(): Html {
  return page(
    'Recording not found',
    html`<main>
<h1>Recording not found</h1>
<p>The link may be incomplete, or the recording is no longer published. Ask for a new link.</p>
</main>`,
    { style: STYLE },
  );
}

/** The page for a URL with a missing or invalid signature. */
function refusedPage(reason: string): Html {
  return page(
    'This link does not work',
    html`<main>
<h1>This link does not work</h1>
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
    const signing = signer && { publicUrl, signer };
    const checked = signing && checkSignature(c, signing);
    if (checked && 'refusal' in checked) {
      const { status, sentence } = checked.refusal;
      return c.html(refusedPage(sentence), status, { ...HEADERS, 'Cache-Control': 'no-store' });
    }
    const recording = await findWatchableRecording(database, params.publication_id);
    if (!recording) return c.html(missingPage(), 404, { ...HEADERS, 'Cache-Control': 'no-store' });
    const addressOf =
      signing && checked ? signedAddresses(c, signing, checked.policy, recording.duration ?? 0) : plainAddresses(c);
    const script = `${rootOf(c)}/watch/assets/player.js`;
    const caching = signing ? 'private, no-store' : 'no-cache';
    return c.html(recordingPage(recording, { addressOf, script }), 200, {
      ...HEADERS,
      'Cache-Control': caching,
    });
  },
});

/** The scripts of the page. They hold nothing of a recording and need no signature. */
export const watchAsset = defineEndpoint({
  method: 'get',
  path: '/watch/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => MODULES.answer(c, params.name),
});

/** Returns the relative URL of the server's root, without a final slash. It is valid behind any proxy name and path. */
function rootOf(c: Context): string {
  return new URL(c.req.url).pathname.endsWith('/') ? '../..' : '..';
}

function plainAddresses(c: Context): FileAddress {
  const root = rootOf(c);
  return (element) => elementUrl(root, element);
}

/** Signs URLs for the usual time plus the duration of the recording, and for the IP address of the page. */
function signedAddresses(
  c: Context,
  { signer, publicUrl }: SignatureCheck,
  { source }: Policy,
  duration: number,
): FileAddress {
  const relative = plainAddresses(c);
  const validUntil = signer.defaultEnd() + duration;
  return (element: PublicationElement) => {
    const signed = signer.sign(elementUrl(publicUrl, element), { validUntil, source });
    return relative(element) + signed.slice(signed.indexOf('?'));
  };
}
