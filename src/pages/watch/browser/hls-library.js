/** @import Hls from 'hls.js' */

/**
 * Returns true if a browser plays playlists and should: WebKit, whose AirPlay needs them, and browsers without Media Source
 * Extensions. The players that other browsers contain leave no control of two tracks on one line.
 */
export function playsPlaylists() {
  const video = document.createElement('video');
  if (video.canPlayType('application/vnd.apple.mpegurl') === '') return false;
  return 'webkitShowPlaybackTargetPicker' in video || !('MediaSource' in window);
}

/** @returns {Promise<typeof Hls>} */
async function load() {
  // The type checker finds no file of this name: the server takes it from the package.
  const url = new URL('./hls.js', import.meta.url).href;
  /** @type {typeof Hls} */
  const library = (await import(url)).default;
  if (!library.isSupported()) throw new Error('This browser cannot play streams.');
  return library;
}

/**
 * The library that plays playlists where the browser does not. The page runs this module first, so that it loads beside the
 * other scripts; undefined where nothing needs it.
 */
export const hlsLibrary = document.querySelector('[data-playlist]') && !playsPlaylists() ? load() : undefined;
// The caller reports the failure.
hlsLibrary?.catch(() => undefined);
