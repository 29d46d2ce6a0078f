/** @import { PlayerParts } from './player-parts.js' */
/** @import { Streams } from './streams.js' */
import { renditionsOf } from './media-source.js';
import { findPart } from './player-parts.js';

/**
 * Offers the qualities of all media, and shows which one is playing.
 *
 * @param {PlayerParts} parts
 * @param {Streams} streams
 */
export function addQualityChoice({ player, leader, followers }, streams) {
  const choice = findPart(player, 'quality', HTMLSelectElement);
  const renditions = [leader, ...followers].flatMap(renditionsOf).filter(({ quality }) => quality > 0);
  const labels = new Map(
    renditions.toSorted((a, b) => b.quality - a.quality).map((each) => [each.quality, each.label]),
  );
  if (labels.size < 2) return;
  const automatic = new Option('Auto', '');
  choice.append(automatic, ...[...labels].map(([quality, label]) => new Option(label, String(quality))));
  const show = () => {
    if (!(leader instanceof HTMLVideoElement) || !leader.videoHeight) return;
    const label = labels.get(Math.min(leader.videoWidth, leader.videoHeight));
    automatic.text = label && choice.value === '' ? `Auto (${label})` : 'Auto';
  };
  choice.addEventListener('change', () => {
    streams.choose(choice.value === '' ? undefined : Number(choice.value));
    show();
  });
  leader.addEventListener('resize', show);
  const row = choice.closest('label');
  if (row) row.hidden = false;
}
