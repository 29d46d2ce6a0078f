import { html } from 'hono/html';
import { page, pagePolicy } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { rootFrom } from '../urls/relative-urls.ts';
import { openRecording, pageHeaders, type RecordingServices, refusalHtml } from './open-recording.ts';
import { playerHtml, playerScripts } from './player-html.ts';
import { playerOf } from './player-media.ts';
import { STYLE } from './watch-style.ts';

/** The player fills the frame, with its bar below the pictures. */
const EMBED_STYLE = `${STYLE}
.player { display: flex; flex-direction: column; height: 100vh; }
.screens { flex: 1; min-height: 0; width: 100%; max-width: none; }
.screens video { max-height: 100%; }
.bar { width: 100%; max-width: none; }
.player:not(:has(video), :fullscreen) .panel { inset: auto .9rem 3.6rem auto; }
main:has(.player) { max-width: none; padding: 0; }
@media (max-width: 44rem) and (max-aspect-ratio: 1/1) { .screens video { flex: 0 1 auto !important; min-height: 0; } }
@media (max-width: 44rem) and (min-aspect-ratio: 1/1) {
  .screens { flex-direction: row; align-items: center; }
  .screens[data-swapped] { flex-direction: row-reverse; }
  .screens video { flex: 1 1 0 !important; width: 0; }
}
`;

/** Without `frame-ancestors`: even `*` excludes apps, whose pages have schemes such as `moodleappfs`. */
const CONTENT_SECURITY_POLICY = pagePolicy(
  { style: EMBED_STYLE },
  "script-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
);

/** Shows the player of a publication alone, for frames of other sites, to those whom the watch page admits. */
export const embedPage = defineEndpoint({
  method: 'get',
  path: '/embed/{publication_id}',
  access: 'public',
  handle: async ({ c, params }, services: RecordingServices) => {
    const opened = await openRecording(c, services, params.publication_id);
    if ('refusal' in opened) {
      const content = refusalHtml(c, opened.refusal, params.publication_id);
      const { status, title } = opened.refusal;
      return c.html(page(title, content, { style: EMBED_STYLE }), status, pageHeaders(CONTENT_SECURITY_POLICY));
    }
    const { recording, grant, addressOf, views } = opened;
    const player = playerOf(recording, addressOf);
    const root = rootFrom(c);
    // The signature of this page is for this page only.
    const links =
      grant.by === 'signature' ? {} : { watch: `${root}watch/${recording.id}`, embed: `${root}embed/${recording.id}` };
    const title = recording.title || 'Untitled recording';
    const content = html`${playerScripts(root)}
<main>
<h1 class="unseen">${title}</h1>
${player ? playerHtml(player, { addressOf, views, ...links }) : html`<p>This publication has nothing to play.</p>`}
</main>`;
    return c.html(page(title, content, { style: EMBED_STYLE }), 200, pageHeaders(CONTENT_SECURITY_POLICY, grant));
  },
});
