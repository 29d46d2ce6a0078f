/** @typedef {ReturnType<typeof findParts>} PlayerParts */

/** Finds the media of a player (leader, followers, sound) and its position bar. @param {Element} player */
export function findParts(player) {
  if (!(player instanceof HTMLElement)) throw new Error('The player must be an HTML element.');
  const media = [...player.querySelectorAll('video, audio')].filter((each) => each instanceof HTMLMediaElement);
  const leader = media.find(({ dataset }) => dataset.leader !== undefined);
  if (!leader) throw new Error('The player has no leading medium.');
  return {
    player,
    leader,
    followers: media.filter(({ dataset }) => dataset.follower !== undefined),
    sound: media.find(({ dataset }) => dataset.sound !== undefined),
    seek: findPart(player, 'seek', HTMLInputElement),
  };
}

/**
 * Finds a part of a player by its name and type.
 *
 * @template {HTMLElement} T
 * @param {HTMLElement} player
 * @param {string} name
 * @param {new () => T} type
 * @returns {T}
 */
export function findPart(player, name, type) {
  const found = player.querySelector(`[data-part="${name}"]`);
  if (found instanceof type) return found;
  throw new Error(`The player has no part ${name} of the type ${type.name}.`);
}
