/** @import { PlayedRendition } from '../player-media.ts' */
import { bestWithin } from './line-share.js';

/**
 * @typedef {object} Source The place that a medium is played from.
 * @property {(quality: number | undefined) => void} choose a quality, or undefined for the automatic choice
 */

/** A file may need this share of the line. */
const FILE_SHARE = 0.6;

/** Returns the renditions of a medium, the best one first. @param {HTMLMediaElement} media @returns {PlayedRendition[]} */
export function renditionsOf({ dataset }) {
  return JSON.parse(dataset.renditions ?? '[]');
}

/**
 * Plays files: the chosen one, or automatically a playlist or the best that the line allows.
 *
 * @param {HTMLMediaElement} media
 * @param {{ playlist?: string | undefined, bitsPerSecond?: number | undefined }} automatic
 * @returns {Source}
 */
export function playFiles(media, { playlist, bitsPerSecond = Number.POSITIVE_INFINITY }) {
  const renditions = renditionsOf(media);
  const choose = (/** @type {number | undefined} */ quality) => {
    const best = quality === undefined ? bestForLine(renditions, bitsPerSecond) : bestForQuality(renditions, quality);
    const url = quality === undefined && playlist ? playlist : best?.url;
    if (url) replaceSource(media, url);
  };
  return { choose };
}

/** @param {readonly PlayedRendition[]} renditions @param {number} bitsPerSecond */
function bestForLine(renditions, bitsPerSecond) {
  const rates = renditions.map(({ bitRate }) => bitRate);
  return renditions[bestWithin(rates, bitsPerSecond * FILE_SHARE)];
}

/** @param {readonly PlayedRendition[]} renditions @param {number} limit */
function bestForQuality(renditions, limit) {
  const qualities = renditions.map(({ quality }) => quality);
  return renditions[bestWithin(qualities, limit)];
}

/** Continues at the same position with another file. @param {HTMLMediaElement} media @param {string} url */
function replaceSource(media, url) {
  const { currentTime, paused } = media;
  media.preload = 'metadata';
  if (media.src === new URL(url, document.baseURI).href && !media.error) return;
  media.src = url;
  media.currentTime = currentTime;
  if (!paused) media.play().catch(() => undefined);
}
