import { html } from 'hono/html';
import { BASIC } from '#access/access-errors.ts';
import { Assets, browserModules, packageFile, SCRIPT_TYPE } from '#platform/http/answer/asset.ts';
import { type Html, page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { type PublicationElement, renditionsOfTracks } from '#publications/publication.ts';
import { visitOf } from '#publications/watch-access.ts';
import { redirectToSignIn } from '../sign-in/sign-in-page.ts';
import { formatSize } from '../upload/browser/card-text.js';
import { type FileAddress, rootFrom } from '../urls/relative-urls.ts';
import { clock } from './browser/clock.js';
import { oembedUrl } from './oembed.endpoint.ts';
import { isFramed, openRecording, pageHeaders, type RecordingServices, refusalHtml } from './open-recording.ts';
import { labelOf, playerHtml, playerScripts } from './player-html.ts';
import { type PublishedRecording, playerOf, qualityOf } from './player-media.ts';
import type { PlayerLinks } from './player-panels.ts';
import { STYLE } from './watch-style.ts';

/** Allows only files of this server. Other sites may frame the page. */
const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: STYLE },
  "script-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
);

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function recordingPage(
  recording: PublishedRecording,
  { root, oembed, ...links }: PlayerLinks & { root: string; oembed: string | undefined },
): Html {
  const { addressOf } = links;
  const player = playerOf(recording, addressOf);
  const title = recording.title || 'Untitled recording';
  const facts = [
    recording.presenters.join(', '),
    html`<time datetime="${recording.start_date.toISOString()}">${DATE.format(recording.start_date)} UTC</time>`,
    player ? clock(player.duration / 1000) : '',
  ];
  return page(
    title,
    html`${playerScripts(root)}
${player ? playerHtml(player, links) : ''}
<main>
${recording.series_title ? html`<p class="series" dir="auto">${recording.series_title}</p>` : ''}
<h1 dir="auto">${title}</h1>
<p class="facts">${facts.filter((fact) => fact !== '').map((fact) => html`<span><bdi>${fact}</bdi></span>`)}</p>
${player ? '' : html`<p>This publication has nothing to play.</p>`}
${recording.description ? html`<p class="description" dir="auto">${recording.description}</p>` : ''}
${rightsHtml(recording)}
${downloadsHtml(renditionsOfTracks(recording).flat(), addressOf)}
</main>`,
    { style: STYLE, head: oembed ? html`<link rel="alternate" type="application/json+oembed" href="${oembed}">` : '' },
  );
}

function rightsHtml({ rights_holder, license }: PublishedRecording): Html | '' {
  const terms = license === 'ALLRIGHTS' ? 'All rights reserved' : license.replace(/^CC-/, 'CC ');
  const rights = [rights_holder && `© ${rights_holder}`, terms].filter((text) => text !== '');
  return rights.length > 0
    ? html`<p class="facts">${rights.map((text) => html`<span><bdi>${text}</bdi></span>`)}</p>`
    : '';
}

function downloadsHtml(media: readonly PublicationElement[], addressOf: FileAddress): Html | '' {
  if (media.length === 0) return '';
  return html`<h2>Download</h2>
<ul>
${media.map(
  (element) =>
    html`<li><a href="${addressOf(element)}" download="${element.filename}">${nameOf(element)} <small>${formatOf(element)}, ${formatSize(element.size)}</small></a></li>`,
)}
</ul>`;
}

function nameOf(element: PublicationElement): string {
  const quality = qualityOf(element);
  return quality ? `${labelOf(element.flavor)}, ${quality.label}` : labelOf(element.flavor);
}

function formatOf({ has_video, mediatype }: PublicationElement): string {
  const format = mediatype.split('/')[1]?.toUpperCase() ?? '';
  return `${has_video ? 'video' : 'audio'} ${format}`.trim();
}

const MODULES = new Assets({
  ...browserModules(new URL('./browser/', import.meta.url)),
  'hls.js': packageFile('hls.js/dist/hls.light.min.mjs', SCRIPT_TYPE),
});
const redirect = redirectToSignIn();

/**
 * Shows a publication to those whom `WATCH_ACCESS` admits. Browsers without a session go to the sign-in page where the
 * access control list does not admit everyone. If every address must be signed, the signature alone decides. The page
 * signs the URLs of its files where they need it.
 */
export const watchPage = defineEndpoint({
  method: 'get',
  path: '/watch/{publication_id}',
  access: 'public',
  handle: async ({ c, params }, services: RecordingServices) => {
    const opened = await openRecording(c, services, params.publication_id);
    if ('refusal' in opened) {
      const { status, title } = opened.refusal;
      const redirected = status === 401 && !isFramed(c) && (await redirect(c, async () => undefined));
      if (redirected) return redirected;
      const content = page(title, refusalHtml(c, opened.refusal, params.publication_id), { style: STYLE });
      const headers = { ...pageHeaders(CONTENT_SECURITY_POLICY), ...(status === 401 && { 'WWW-Authenticate': BASIC }) };
      return c.html(content, status, headers);
    }
    const { recording, grant, addressOf, views } = opened;
    const root = rootFrom(c);
    const { url } = visitOf(c, services.addresses, { isFile: false });
    const oembed = grant.by === 'reader' ? undefined : oembedUrl(services.addresses.publicUrl, url);
    // The signature of this page is for this page only.
    const embed = grant.by === 'signature' ? undefined : `${root}embed/${recording.id}`;
    const content = recordingPage(recording, { addressOf, root, embed, oembed, views });
    return c.html(content, 200, pageHeaders(CONTENT_SECURITY_POLICY, grant));
  },
});

/** The scripts of the page. They hold nothing of a recording and need no signature. */
export const watchAsset = defineEndpoint({
  method: 'get',
  path: '/watch/assets/{name}',
  access: 'public',
  handle: ({ c, params }) => MODULES.answer(c, params.name),
});
