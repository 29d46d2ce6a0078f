import { z } from 'zod';
import type { findWatchableRecording } from '#publications/publication.queries.ts';
import {
  CHAPTERS,
  captionsOf,
  elementsOf,
  flavorOf,
  languageIn,
  mediaOf,
  type Publication,
  type PublicationElement,
  playlistOf,
  renditionsOfTracks,
} from '#publications/publication.ts';
import type { ReadAccess } from '#publications/watch-access.ts';
import type { FileAddress } from '../urls/relative-urls.ts';

/** A publication with the metadata of its event. */
export type PublishedRecording = Omit<
  NonNullable<Awaited<ReturnType<typeof findWatchableRecording>>>,
  keyof ReadAccess
>;

/** A medium of the player. One medium leads; at most one is heard. */
export interface PlayedMedia {
  /** The best rendition. */
  element: PublicationElement;
  /** All renditions, the best one first. */
  renditions: PlayedRendition[];
  /** The address of the playlist of all renditions, if one exists. */
  playlistUrl: string | undefined;
  leads: boolean;
  heard: boolean;
  posterUrl: string | undefined;
}

/** A rendition as the script of the player reads it. */
export interface PlayedRendition {
  url: string;
  /** The shorter side of the picture in pixels, or kbit/s of sound alone; 0 if unknown. */
  quality: number;
  label: string;
  /** Bits per second; 0 if unknown. */
  bitRate: number;
}

export interface Player {
  /** Shown side by side. */
  screens: PlayedMedia[];
  /** An audio file, if no screen has sound. */
  sound: PlayedMedia | undefined;
  /** Shown if there are no screens. */
  imageUrl: string | undefined;
  /** The preview pictures of the position bar. */
  timeline: (z.infer<typeof TimelineProperties> & { url: string }) | undefined;
  captions: CaptionsChoice[];
  /** The address of the chapters: the first list, if there are several. */
  chaptersUrl: string | undefined;
  /** The duration of the longest medium, or else of the event, in milliseconds. */
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

/** The durations of the tracks of one recording differ by up to this. */
const SAME_LENGTH_MS = 1000;

/** Decides which media are shown, which is heard, and which leads. Returns undefined without media. */
export function playerOf(recording: PublishedRecording, addressOf: FileAddress): Player | undefined {
  const tracks = renditionsOfTracks(recording);
  const media = tracks.flatMap(([best]) => best ?? []);
  const seen = media.filter(({ has_video }) => has_video);
  const listened = seen.some(({ has_audio }) => has_audio) ? undefined : media.find(({ has_video }) => !has_video);
  const played = listened ? [...seen, listened] : seen;
  const leader = longest(played);
  if (!leader) return undefined;
  const heard = leader.has_audio ? leader : played.find(({ has_audio }) => has_audio);

  const chapters = elementsOf(recording, 'attachment').find(({ flavor }) => flavor === CHAPTERS);
  const imageUrl = (subtype: string, of?: PublicationElement) => {
    const image = findImage(recording, subtype, of);
    return image && addressOf(image);
  };
  const present = (element: PublicationElement): PlayedMedia => ({
    element,
    renditions: (tracks.find(([best]) => best === element) ?? []).map((each) => playedRendition(each, addressOf)),
    playlistUrl: addressOfPlaylist(recording, element, addressOf),
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
    chaptersUrl: chapters && addressOf(chapters),
    duration: leader.duration ?? recording.duration ?? 0,
  };
}

function playedRendition(element: PublicationElement, addressOf: FileAddress): PlayedRendition {
  const { value, label } = qualityOf(element) ?? { value: 0, label: 'Original' };
  return { url: addressOf(element), quality: value, label, bitRate: Number(element.bit_rate ?? 0) };
}

function addressOfPlaylist(recording: PublishedRecording, element: PublicationElement, addressOf: FileAddress) {
  const playlist = playlistOf(recording, element);
  return playlist && addressOf(playlist);
}

/**
 * Returns the quality of a rendition: the shorter side of the picture in pixels (`720p`), or the bit rate of sound alone
 * (`128 kbit/s`); undefined if unknown.
 */
export function qualityOf({ width, height, tags }: Pick<PublicationElement, 'width' | 'height' | 'tags'>) {
  if (width && height) {
    const value = Math.min(width, height);
    return { value, label: `${value}p` };
  }
  const value = Number(tags.map((tag) => /^(\d+)k-quality$/.exec(tag)?.[1]).find((rate) => rate !== undefined) ?? 0);
  return value > 0 ? { value, label: `${value} kbit/s` } : undefined;
}

/** Returns the longest medium; among equally long media, the first with sound. */
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

interface CaptionsChoice {
  url: string;
  /** A BCP 47 tag, if known. */
  language: string | undefined;
  /** The name of the language in that language, numbered if it repeats. */
  label: string;
}

/** Returns the captions of a recording with unique labels. */
export function captionChoices(recording: Pick<Publication, 'elements'>, addressOf: FileAddress): CaptionsChoice[] {
  const taken = new Map<string, number>();
  return captionsOf(recording).map((element) => {
    const { language, name: own } = languageOf(element) ?? { language: undefined, name: 'Captions' };
    const automatic = element.tags.includes('generator-type:auto') ? ' (automatic)' : '';
    const name = `${own}${automatic}`;
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    return { url: addressOf(element), language, label: count > 1 ? `${name} ${count}` : name };
  });
}

/** Returns the language of captions and its name; undefined without a valid language. */
function languageOf(captions: PublicationElement): { language: string; name: string } | undefined {
  const tag = languageIn(captions);
  if (!tag) return undefined;
  try {
    // Extensions and private use have no name.
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
