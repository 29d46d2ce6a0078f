import { ORGANIZATION } from '#access/roles/roles.ts';
import type { EventRow } from '#catalogue/events/event-json.ts';
import { formatInstant } from '#metadata/date-time.ts';
import { NEWEST_VERSION } from '#platform/http/answer/version.ts';
import { DEFAULT_CHANNEL, type Publication } from '#publications/publication.ts';
import { type PublicationAddresses, publicationJson } from '#publications/publication-json.ts';

type Shown = ReturnType<typeof publicationJson>;

/** Returns a published event as a search shows it: Dublin Core in two forms, and the media package. */
export function foundEpisode(event: EventRow, publications: readonly Publication[], addresses: PublicationAddresses) {
  const published = publications.find(({ channel }) => channel === DEFAULT_CHANNEL) ?? publications[0];
  const shown = published && publicationJson(published, { ...addresses, sign: true, version: NEWEST_VERSION });
  const { id, title, presenters, contributors, subjects, series_id, series_title } = event;
  const [created, start] = [formatInstant(event.created), formatInstant(event.start_date)];
  const duration = event.duration ?? 0;
  const words = {
    ...{ identifier: [id], title: [title], creator: presenters, contributor: contributors, subject: subjects },
    ...{ description: [event.description], language: [event.language], license: [event.license] },
    ...{ rightsHolder: [event.rights_holder], isPartOf: [series_id ?? ''], created: [created] },
  };
  const dc = Object.fromEntries(
    Object.entries(words)
      .map(([name, values]) => [name, values.filter((value) => value !== '')] as const)
      .filter(([, values]) => values.length > 0),
  );
  return {
    id,
    org: ORGANIZATION.id,
    dc,
    ...{ dcTitle: title, dcCreator: presenters.join(', '), dcCreated: created, dcExtent: duration },
    ...(series_id !== null && { dcIsPartOf: series_id }),
    mediaType: 'AudioVisual',
    modified: formatInstant(published?.published_at ?? event.created),
    mediapackage: {
      ...{ id, start, duration, title },
      ...(series_id !== null && { series: series_id, seriestitle: series_title }),
      creators: { creator: presenters },
      media: { track: (shown?.media ?? []).map(track) },
      attachments: { attachment: (shown?.attachments ?? []).map(element) },
      metadata: { catalog: (shown?.metadata ?? []).map(element) },
    },
  };
}

function track(media: Shown['media'][number]) {
  const { duration, has_video, has_audio, width, height, bitrate, framerate } = media;
  return {
    ...element(media),
    duration,
    ...(has_video && { video: { resolution: `${width ?? 0}x${height ?? 0}`, bitrate, framerate } }),
    ...(has_audio && { audio: {} }),
    master: media.is_master_playlist === true,
    live: false,
  };
}

function element({ id, url, flavor, mediatype, tags = [], size }: Partial<Shown['attachments'][number]>) {
  return { id, type: flavor, mimetype: mediatype, url, size, tags: { tag: tags } };
}
