/** @import { PlayerParts } from './player-parts.js' */
/** @import { Source } from './media-source.js' */
import { hlsLibrary } from './hls-library.js';
import { HlsGroup } from './hls-source.js';
import { playFiles } from './media-source.js';

/** @typedef {ReturnType<typeof addStreams>} Streams */

/**
 * Plays each medium from its playlist, in the quality that the line allows, if it has one and the browser can; otherwise from
 * a file.
 *
 * @param {PlayerParts} parts
 */
export function addStreams({ leader, followers }) {
  const all = [leader, ...followers];
  /** @type {Map<HTMLMediaElement, Source>} */
  const sources = new Map(all.map((media) => [media, playFiles(media, {})]));
  /** @type {HlsGroup | undefined} */
  let group;
  /** @type {number | undefined} */
  let chosen;

  const playFile = (/** @type {HTMLMediaElement} */ media, bitsPerSecond = group?.bitsPerSecond) => {
    const source = playFiles(media, { bitsPerSecond });
    sources.set(media, source);
    source.choose(chosen);
  };
  const streamed = all.filter(({ dataset }) => dataset.playlist);
  const playStreams = async (/** @type {NonNullable<typeof hlsLibrary>} */ loading) => {
    // Nothing is loaded of the file, even if the viewer starts it now.
    for (const media of streamed) {
      media.removeAttribute('src');
      media.load();
    }
    group = new HlsGroup(await loading, leader);
    for (const media of streamed) {
      sources.set(
        media,
        group.play(media, media.dataset.playlist ?? '', () => playFile(media)),
      );
      if (chosen !== undefined) sources.get(media)?.choose(chosen);
    }
  };
  if (hlsLibrary) {
    playStreams(hlsLibrary).catch(() => {
      for (const media of streamed) playFile(media);
    });
  } else {
    for (const media of streamed) {
      const source = playFiles(media, { playlist: media.dataset.playlist });
      sources.set(media, source);
      source.choose(undefined);
    }
  }

  return {
    /** Plays all media in a quality or the nearest lower one; undefined leaves it to the line. */
    choose: (/** @type {number | undefined} */ quality) => {
      chosen = quality;
      for (const source of sources.values()) source.choose(quality);
    },
    /** Limits the quality of the pictures that are small now. */
    onLayout: () => group?.capSmallPictures(),
  };
}
