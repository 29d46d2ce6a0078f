import { z } from 'zod';
import {
  captionsOf,
  elementsOf,
  flavorOf,
  mediaOf,
  type Publication,
  type PublicationElement,
} from '#publications/model.ts';
import type { findRecording } from '#publications/queries.ts';

/** A publication with what its event says about it. */
export type PublishedRecording = NonNullable<Awaited<ReturnType<typeof findRecording>>>;

/** Returns the address of a file, relative to the page. */
export type FileAddress = (element: PublicationElement) => string;

/** One medium the player plays. Exactly one leads; at most one is heard. */
export interface PlayedMedia {
  element: PublicationElement;
  leads: boolean;
  heard: boolean;
  posterUrl: string | undefined;
}

/** The media of a watch page. */
export interface Player {
  /** Side by side, in the order of the recording. */
  screens: PlayedMedia[];
  /** Heard without being seen, where no screen has sound. */
  sound: PlayedMedia | undefined;
  /** In place of screens, when there are none. */
  imageUrl: string | undefined;
  /** The sheet of pictures to find a place by. */
  timeline: (z.infer<typeof TimelineProperties> & { url: string }) | undefined;
  /** To be had in time with the leader. */
  captions: CaptionsChoice[];
  /** The longest media's duration in milliseconds, or what the event says. */
  duration: number;
}

const TimelineProperties = z.object({
  imageCount: z.int().positive(),
  columns: z.int().positive(),
  rows: z.int().positive(),
  tileWidth: z.int().positive(),
  tileHeight: z.int().positive(),
  intervalMs: z.int().positive(),
});

/** Encoders leave tracks of one recording this much apart in length. */
const SAME_LENGTH_MS = 1000;

/** Decides what is seen, what is heard and which of the media leads the others. Undefined without media. */
export function playerOf(recording: PublishedRecording, addressOf: FileAddress): Player | undefined {
  const media = elementsOf(recording, 'media');
  const seen = media.filter(({ has_video }) => has_video);
  const listened = seen.some(({ has_audio }) => has_audio) ? undefined : media.find(({ has_video }) => !has_video);
  const played = listened ? [...seen, listened] : seen;
  const leader = longest(played);
  if (!leader) return undefined;
  const heard = leader.has_audio ? leader : played.find(({ has_audio }) => has_audio);

  const imageUrl = (subtype: string, of?: PublicationElement) => {
    const image = findImage(recording, subtype, of);
    return image && addressOf(image);
  };
  const present = (element: PublicationElement): PlayedMedia => ({
    element,
    leads: element === leader,
    heard: element === heard,
    posterUrl: imageUrl('player+preview', element),
  });
  return {
    screens: seen.map(present),
    sound: listened && present(listened),
    imageUrl: imageUrl('waveform', listened) ?? imageUrl('player+preview'),
    timeline: timelineOf(recording, addressOf, leader),
    captions: captionChoices(recording, addressOf),
    duration: leader.duration ?? recording.duration ?? 0,
  };
}

/** The one that plays longest; of equally long ones the first that can be heard. */
function longest(media: readonly PublicationElement[]): PublicationElement | undefined {
  const length = Math.max(...media.map(({ duration }) => duration ?? 0));
  const long = media.filter(({ duration }) => (duration ?? 0) >= length - SAME_LENGTH_MS);
  return long.find(({ has_audio }) => has_audio) ?? long[0];
}

function findImage(recording: PublishedRecording, subtype: string, of?: PublicationElement) {
  return elementsOf(recording, 'attachment').find(
    (image) => flavorOf(image).subtype === subtype && (!of || mediaOf(image, recording) === of),
  );
}

function timelineOf(recording: PublishedRecording, addressOf: FileAddress, leader: PublicationElement) {
  const sheet = findImage(recording, 'timeline+preview', leader) ?? findImage(recording, 'timeline+preview');
  const properties = TimelineProperties.safeParse(sheet?.properties);
  return sheet && properties.success ? { ...properties.data, url: addressOf(sheet) } : undefined;
}

/** Captions a viewer can choose. */
export interface CaptionsChoice {
  url: string;
  /** A tag of BCP 47, as far as it is known. */
  language: string | undefined;
  /** The language in its own words, numbered where several are alike. */
  label: string;
}

/** The captions of a recording with how a player is to call them; no two alike. */
export function captionChoices(
  recording: Pick<Publication, 'elements'>,
  addressOf: (element: PublicationElement) => string,
): CaptionsChoice[] {
  const taken = new Map<string, number>();
  return captionsOf(recording).map((element) => {
    const { language, name: own } = languageOf(element.tags) ?? { language: undefined, name: 'Captions' };
    const automatic = element.tags.includes('generator-type:auto') ? ' (automatic)' : '';
    const name = `${own}${automatic}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return { url: addressOf(element), language, label: count > 1 ? `${name} ${count}` : name };
  });
}

/** The language of a tag and its name; undefined where the tag is missing or is no language. */
function languageOf(tags: readonly string[]): { language: string; name: string } | undefined {
  const tag = tags.find((each) => each.startsWith('lang:'))?.slice('lang:'.length);
  if (!tag) return undefined;
  try {
    // What follows the language, script and region (extensions, private use) has no name.
    const language = new Intl.Locale(tag.replaceAll('_', '-')).baseName;
    return { language, name: nameOf(language) };
  } catch {
    return undefined;
  }
}

function nameOf(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}
