/**
 * Keeps the followers of a player where its leader is: playing, paused, position and rate. Small drift is made good by
 * playing a little faster or slower, which nobody notices; large drift by a jump.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function synchronise(player: HTMLElement): void {
  const IGNORED_SECONDS = 0.05;
  const JUMP_SECONDS = 1.5;
  const JUMP_PAUSE_MS = 3000;
  const leader = player.querySelector<HTMLMediaElement>('[data-leader]');
  const followers = [...player.querySelectorAll<HTMLMediaElement>('[data-follower]')];
  if (!leader) return;

  const follow = (follower: HTMLMediaElement, jumped: { at: number }) => {
    if (follower.readyState === 0) return;
    const over = leader.currentTime >= follower.duration;
    const still = leader.paused || leader.seeking || leader.readyState < 3 || over;
    if (still && !follower.paused) follower.pause();
    // Refused only while the page may not play at all; the next event tries again.
    if (!still && follower.paused) follower.play().catch(() => undefined);

    const target = Math.min(leader.currentTime, follower.duration);
    const drift = follower.currentTime - target;
    const distance = Math.abs(drift);
    const recently = performance.now() - jumped.at < JUMP_PAUSE_MS;
    if (distance > IGNORED_SECONDS && (still || (distance > JUMP_SECONDS && !recently))) {
      if (follower.seeking) return;
      jumped.at = performance.now();
      follower.currentTime = target;
      follower.playbackRate = leader.playbackRate;
    } else {
      const correction = distance > IGNORED_SECONDS ? Math.max(-0.5, Math.min(0.5, drift)) : 0;
      follower.playbackRate = leader.playbackRate * (1 - correction);
    }
  };

  const leading = ['play', 'playing', 'pause', 'waiting', 'seeking', 'seeked', 'ratechange', 'timeupdate'];
  for (const follower of followers) {
    const jumped = { at: Number.NEGATIVE_INFINITY };
    const update = () => follow(follower, jumped);
    for (const event of leading) leader.addEventListener(event, update);
    for (const event of ['loadedmetadata', 'canplay', 'seeked']) follower.addEventListener(event, update);
  }
}
