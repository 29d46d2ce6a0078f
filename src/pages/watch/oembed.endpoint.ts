import { html } from 'hono/html';
import { z } from 'zod';
import { anonymous } from '#access/principal.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { findWatchableRecording } from '#publications/publication.queries.ts';
import { elementsOf, elementUrl, embedUrl, flavorOf, mediaOf, publishedAddress } from '#publications/publication.ts';
import { admit } from '#publications/watch-access.ts';
import { FRAME_FEATURES } from './browser/share.js';
import { startTime, withStartTime } from './browser/start-time.js';
import type { RecordingServices } from './open-recording.ts';
import { type PublishedRecording, playerOf } from './player-media.ts';

const PATH = '/oembed';
/** The limits of clients that name none, in pixels. */
const USUAL = { width: 960, height: 540 };
/** The box into which the operation `preview` fits thumbnails. */
const THUMBNAIL_SIZE = 320;

const NO_PAGE = refusal(404, 'The URL is not that of a published recording of this server.');
const NOT_PUBLIC = refusal(401, 'Not everyone may watch this recording.');
const NO_FORMAT = refusal(501, 'The format must be json.');
const NO_URL = refusal(400, 'The parameter url must be the URL of a watch page.');
const NO_SIZE = refusal(400, 'maxwidth and maxheight must be positive integers (pixels).');

const pixels = (description: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, { error: NO_SIZE.example })
    .transform(Number)
    .optional()
    .describe(description);

const OembedQuery = z.object({
  url: z.string({ error: NO_URL.example }).describe('The URL of a watch page, or of its player for frames.'),
  maxwidth: pixels('The maximum width in pixels.'),
  maxheight: pixels('The maximum height in pixels.'),
  format: z.string().optional().describe('Only `json`.'),
});

/** Returns the address that describes a page for embedding. */
export function oembedUrl(publicUrl: string, pageUrl: string): string {
  return `${publicUrl}${PATH}?url=${encodeURIComponent(pageUrl)}&format=json`;
}

/**
 * Describes how to embed a recording, as defined by https://oembed.com, to everyone who can open its page without an account.
 * Not in the reference, as other endpoints for players.
 */
export const oembed = defineEndpoint({
  method: 'get',
  path: PATH,
  access: 'public',
  query: OembedQuery,
  handle: async ({ c, query }, { database, addresses }: Pick<RecordingServices, 'database' | 'addresses'>) => {
    const { url, format = 'json', maxwidth, maxheight } = query();
    if (format !== 'json') throw NO_FORMAT();
    const address = URL.canParse(url) ? publishedAddress(addresses.publicUrl, new URL(url)) : undefined;
    if (!address || address.elementId) throw NO_PAGE();
    const visit = { url, client: remoteAddress(c), account: undefined, isFile: false };
    const admission = await admit(visit, addresses, () =>
      findWatchableRecording(database, address.publicationId, anonymous),
    );
    if (!admission) throw NO_PAGE();
    if (!admission.found) throw NOT_PUBLIC();
    const { found, grant } = admission;
    const signed = (plain: string) =>
      grant.by === 'signature' && addresses.signer ? addresses.signer.sign(plain, grant.policy) : plain;
    const isLimited = maxwidth !== undefined || maxheight !== undefined;
    const limits = isLimited ? { width: maxwidth ?? Infinity, height: maxheight ?? Infinity } : USUAL;
    const size = scaleInto(shapeOf(found), limits);
    const title = found.title || 'Untitled recording';
    const player = new URL(signed(embedUrl(addresses.publicUrl, found.id)));
    const frame = html`<iframe src="${withStartTime(player, startTime(new URL(url)) ?? 0)}" width="${size.width}" height="${size.height}" title="${title}" allow="${FRAME_FEATURES}" allowfullscreen></iframe>`;
    const body = {
      ...{ version: '1.0', type: 'video', title, author_name: found.presenters.join(', ') },
      ...{ provider_name: 'Inlet', provider_url: addresses.publicUrl, html: String(await frame), ...size },
      ...thumbnailOf(found, limits, (element) => signed(elementUrl(addresses.publicUrl, element))),
    };
    return c.json(body, 200, { 'Cache-Control': grant.by === 'signature' ? 'private, no-store' : 'no-cache' });
  },
});

interface Size {
  width: number;
  height: number;
}

/** Returns the shape of the leading picture; that of most screens for sound alone. */
function shapeOf(recording: PublishedRecording): Size {
  const screens = playerOf(recording, () => '')?.screens ?? [];
  const { width, height } = (screens.find(({ leads }) => leads) ?? screens[0])?.element ?? {};
  return width && height ? { width, height } : { width: 16, height: 9 };
}

/** Returns the largest size of a shape within limits. */
function scaleInto(shape: Size, limits: Size): Size {
  const scale = Math.min(limits.width / shape.width, limits.height / shape.height);
  return { width: Math.round(shape.width * scale), height: Math.round(shape.height * scale) };
}

/** Returns the fields of a thumbnail; none if it is larger than allowed. */
function thumbnailOf(
  recording: PublishedRecording,
  limits: Size,
  addressOf: (element: PublishedRecording['elements'][number]) => string,
) {
  const image = elementsOf(recording, 'attachment').find((each) => flavorOf(each).subtype === 'search+preview');
  const { width, height } = (image && mediaOf(image, recording)) ?? {};
  if (!image || !width || !height) return {};
  const largest = Math.min(THUMBNAIL_SIZE, Math.max(width, height));
  const size = scaleInto({ width, height }, { width: largest, height: largest });
  if (size.width > limits.width || size.height > limits.height) return {};
  return { thumbnail_url: addressOf(image), thumbnail_width: size.width, thumbnail_height: size.height };
}
