/** @import { PlayerParts } from './player-parts.js' */
import { findPart } from './player-parts.js';
import { addPositionBar, fillRange } from './position-bar.js';
import { withStartTime } from './start-time.js';

/** The time after which waiting is shown, and the further time after which it is read out. */
const SHOWN_MS = 500;
const SPOKEN_MS = 3_000;

/** Replaces the controls of the browser by one bar for all media. @param {PlayerParts} parts */
export function addControls(parts) {
  const { player, leader, followers } = parts;
  addPlayButtons(parts);
  addPositionBar(parts);
  addSoundControls(parts);
  addFullscreenButton(parts);
  const rate = findPart(player, 'rate', HTMLSelectElement);
  rate.addEventListener('change', () => {
    // Loading a medium again sets its speed to the default.
    leader.defaultPlaybackRate = leader.playbackRate = Number(rate.value);
  });
  for (const media of [leader, ...followers]) {
    media.controls = false;
  }
  reportFaults(parts);
  showWaiting(parts);
  findPart(player, 'bar', HTMLElement).hidden = false;
}

/** @param {PlayerParts} parts */
function addPlayButtons({ player, leader, sound }) {
  const start = findPart(player, 'start', HTMLButtonElement);
  const play = findPart(player, 'play', HTMLButtonElement);
  const show = () => {
    player.dataset.state = leader.paused ? 'paused' : 'playing';
    play.setAttribute('aria-label', leader.paused ? 'Play' : 'Pause');
    if (leader.paused || start.hidden) return;
    if (document.activeElement === start) play.focus();
    start.hidden = true;
  };
  const toggle = () => {
    if (!leader.paused) return leader.pause();
    leader.play().catch(show);
    // Safari lets a medium with sound start only during a click or the press of a key.
    if (sound !== leader) sound?.play().catch(() => undefined);
  };
  play.addEventListener('click', toggle);
  // The start button is in this element.
  findPart(player, 'screens', HTMLElement).addEventListener('click', toggle);
  for (const event of ['play', 'pause']) leader.addEventListener(event, show);
  start.hidden = false;
  show();
}

/** @param {PlayerParts} parts */
function addSoundControls({ player, sound }) {
  const mute = findPart(player, 'mute', HTMLButtonElement);
  const volume = findPart(player, 'volume', HTMLInputElement);
  mute.hidden = volume.hidden = !sound;
  const show = () => {
    const isSilent = !sound || sound.muted || sound.volume === 0;
    player.dataset.volume = isSilent ? 'off' : 'on';
    mute.setAttribute('aria-label', isSilent ? 'Turn the sound on' : 'Turn the sound off');
    volume.value = String(isSilent ? 0 : sound.volume);
    fillRange(volume);
  };
  show();
  if (!sound) return;
  mute.addEventListener('click', () => {
    const isSilent = sound.muted || sound.volume === 0;
    if (isSilent && sound.volume === 0) sound.volume = 1;
    sound.muted = !isSilent;
  });
  volume.addEventListener('input', () => {
    sound.volume = Number(volume.value);
    sound.muted = sound.volume === 0;
  });
  sound.addEventListener('volumechange', show);
}

/**
 * On iPhones, only a single video can fill the screen, with the controls of the system.
 *
 * @param {PlayerParts} parts
 */
function addFullscreenButton({ player, leader, followers }) {
  const button = findPart(player, 'fullscreen', HTMLButtonElement);
  const isShownAlone = !document.fullscreenEnabled && 'webkitEnterFullscreen' in HTMLVideoElement.prototype;
  button.hidden = !document.fullscreenEnabled && !(isShownAlone && leader instanceof HTMLVideoElement);
  button.addEventListener('click', () => {
    if (isShownAlone) {
      const large = [leader, ...followers].find((media) => !media.classList.contains('is-small'));
      // @ts-expect-error: only Safari has it.
      large?.webkitEnterFullscreen();
      return;
    }
    const change = document.fullscreenElement ? document.exitFullscreen() : player.requestFullscreen();
    change.catch(() => undefined);
  });
  document.addEventListener('fullscreenchange', () => {
    button.setAttribute('aria-label', document.fullscreenElement ? 'Leave full screen' : 'Full screen');
  });
}

/** Shows that the recording stands still because data are missing, and says so after a while. @param {PlayerParts} parts */
function showWaiting({ player, leader }) {
  const status = findPart(player, 'status', HTMLElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const show = () => {
    player.toggleAttribute('data-waiting', true);
    timer = setTimeout(() => {
      status.textContent = 'Loading';
    }, SPOKEN_MS);
  };
  const look = () => {
    const isWaiting = !leader.paused && !leader.ended && leader.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    if (isWaiting === (timer !== undefined)) return;
    clearTimeout(timer);
    timer = isWaiting ? setTimeout(show, SHOWN_MS) : undefined;
    if (isWaiting) return;
    player.removeAttribute('data-waiting');
    if (status.textContent === 'Loading') status.textContent = '';
  };
  for (const event of ['play', 'waiting', 'seeking', 'playing', 'canplay', 'pause', 'emptied', 'error'])
    leader.addEventListener(event, look);
}

/** Shows a notice while a medium cannot be played. @param {PlayerParts} parts */
function reportFaults({ player, leader, followers }) {
  const notice = findPart(player, 'notice', HTMLElement);
  const all = [leader, ...followers];
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Load the page again';
  again.addEventListener('click', () => {
    const { href, hash } = new URL(withStartTime(new URL(location.href), leader.currentTime));
    location.replace(href);
    // A change of the fragment alone loads nothing.
    if (hash) location.reload();
  });
  const advice = document.querySelector('a[download]') ? ', or try the download below.' : '.';
  const show = () => {
    const isBroken = all.some(({ error }) => error);
    // An alert is read out when its text changes.
    const text = 'The recording could not be loaded, or this browser cannot play it. ';
    if (isBroken && notice.hidden) notice.replaceChildren(text, again, advice);
    if (!isBroken) notice.replaceChildren();
    notice.hidden = !isBroken;
  };
  // With `loadeddata`, a medium may play from another source.
  for (const media of all) for (const event of ['error', 'loadeddata']) media.addEventListener(event, show);
  show();
}
