import type { Seeker } from './seeker.browser.ts';

/**
 * Replaces the browser's own controls by one bar that drives the leader of a player; without this script each
 * recording keeps its own.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 *
 * @param clock writes seconds as a time
 * @param seeker takes a medium to places
 */
export function controlBar(
  player: HTMLElement,
  clock: (seconds: number) => string,
  seeker: (media: HTMLMediaElement) => Seeker,
): void {
  const STEP_SECONDS = 5;
  const find = <T extends HTMLElement>(name: string) => player.querySelector<T>(`[data-part="${name}"]`);
  const leader = player.querySelector<HTMLMediaElement>('[data-leader]');
  const sound = player.querySelector<HTMLMediaElement>('[data-sound]');
  const [bar, screens, notice, time] = [find('bar'), find('screens'), find('notice'), find('time')];
  const [start, play, mute, fullscreen] = [find('start'), find('play'), find('mute'), find('fullscreen')];
  const [seek, volume] = [find<HTMLInputElement>('seek'), find<HTMLInputElement>('volume')];
  const rate = find<HTMLSelectElement>('rate');
  if (!leader || !bar || !screens || !notice || !time || !fullscreen) return;
  if (!start || !play || !mute || !seek || !volume || !rate) return;

  const { place, goTo } = seeker(leader);
  const fill = (range: HTMLInputElement) => {
    const share = Number(range.max) > 0 ? Number(range.value) / Number(range.max) : 0;
    range.style.setProperty('--share', String(share));
    if (range === seek) player.style.setProperty('--position', String(share));
  };
  const showPosition = () => {
    if (Number.isFinite(leader.duration)) seek.max = String(leader.duration);
    seek.value = String(place());
    const [now, all] = [clock(place()), clock(Number(seek.max))];
    seek.setAttribute('aria-valuetext', `${now} of ${all}`);
    time.textContent = `${now} / ${all}`;
    fill(seek);
  };
  const showState = () => {
    player.dataset.state = leader.paused ? 'paused' : 'playing';
    play.setAttribute('aria-label', leader.paused ? 'Play' : 'Pause');
    if (leader.paused || start.hidden) return;
    if (document.activeElement === start) play.focus();
    start.hidden = true;
  };
  const showSound = () => {
    const silent = !sound || sound.muted || sound.volume === 0;
    player.dataset.volume = silent ? 'off' : 'on';
    mute.setAttribute('aria-label', silent ? 'Turn the sound on' : 'Turn the sound off');
    volume.value = String(silent ? 0 : (sound?.volume ?? 0));
    fill(volume);
  };
  const showFault = () => {
    notice.textContent =
      'This browser cannot play the recording, or it could not be loaded. Try the download below.';
    notice.hidden = false;
  };
  const toggle = () => {
    if (leader.paused) leader.play().catch(() => showState());
    else leader.pause();
  };

  play.addEventListener('click', toggle);
  // The start button stands on the pictures: its click is theirs.
  screens.addEventListener('click', toggle);
  seek.addEventListener('input', () => {
    goTo(Number(seek.value));
    showPosition();
  });
  seek.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    seek.valueAsNumber = place() + step * STEP_SECONDS;
    seek.dispatchEvent(new Event('input'));
  });
  rate.addEventListener('change', () => {
    leader.playbackRate = Number(rate.value);
  });
  mute.addEventListener('click', () => {
    if (!sound) return;
    const silent = sound.muted || sound.volume === 0;
    if (silent && sound.volume === 0) sound.volume = 1;
    sound.muted = !silent;
  });
  volume.addEventListener('input', () => {
    if (!sound) return;
    sound.volume = Number(volume.value);
    sound.muted = sound.volume === 0;
  });
  fullscreen.addEventListener('click', () => {
    const change = document.fullscreenElement ? document.exitFullscreen() : player.requestFullscreen();
    change.catch(() => undefined);
  });

  document.addEventListener('fullscreenchange', () => {
    fullscreen.setAttribute('aria-label', document.fullscreenElement ? 'Leave full screen' : 'Full screen');
  });

  for (const event of ['timeupdate', 'seeking', 'durationchange'])
    leader.addEventListener(event, showPosition);
  for (const event of ['play', 'pause', 'ended']) leader.addEventListener(event, showState);
  sound?.addEventListener('volumechange', showSound);
  for (const media of player.querySelectorAll<HTMLMediaElement>('video, audio')) {
    media.controls = false;
    media.addEventListener('error', showFault);
    if (media.error) showFault();
  }
  fullscreen.hidden = !document.fullscreenEnabled;
  mute.hidden = volume.hidden = !sound;
  bar.hidden = start.hidden = false;
  showPosition();
  showState();
  showSound();
}
