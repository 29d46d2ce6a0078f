/** @import { PlayerParts } from './player-parts.js' */
import { findPart } from './player-parts.js';

/**
 * Shows the captions below all pictures. Browsers show captions on one picture only, and none if audio leads.
 *
 * @param {PlayerParts} parts
 */
export function showCaptions({ player, leader }) {
  const tracks = [...leader.textTracks].filter(({ kind }) => kind === 'captions');
  if (tracks.length === 0) return;
  const button = findPart(player, 'captions', HTMLButtonElement);
  const choice = findPart(player, 'language', HTMLSelectElement);
  const shown = findPart(player, 'cues', HTMLElement);
  let chosen = preferredTrack(tracks);
  let on = false;
  /** True in the full screen of iPhones, where the system draws the captions and lets the viewer choose them. */
  let isDrawnBySystem = false;

  const draw = () => {
    const track = tracks[chosen];
    shown.lang = track?.language ?? '';
    shown.replaceChildren(...(on ? [...(track?.activeCues ?? [])].map(cueLine) : []));
  };
  const show = () => {
    // Browsers do not draw a hidden track but report its active cues.
    const shownMode = isDrawnBySystem ? 'showing' : 'hidden';
    for (const [i, track] of tracks.entries()) track.mode = on && i === chosen ? shownMode : 'disabled';
    button.setAttribute('aria-pressed', String(on));
    choice.selectedIndex = chosen;
    draw();
  };

  button.addEventListener('click', () => {
    on = !on;
    show();
  });
  choice.addEventListener('change', () => {
    chosen = choice.selectedIndex;
    on = true;
    show();
  });
  for (const track of tracks) track.addEventListener('cuechange', draw);
  leader.textTracks.addEventListener('change', () => {
    const showing = tracks.findIndex(({ mode }) => mode === 'showing');
    // Otherwise the page shows no track this way, but a browser may be set to always show captions.
    if (showing < 0 && !isDrawnBySystem) return;
    on = showing >= 0;
    if (on) chosen = showing;
    if (!isDrawnBySystem) show();
  });
  for (const [event, isFull] of Object.entries({ webkitbeginfullscreen: true, webkitendfullscreen: false })) {
    leader.addEventListener(event, () => {
      isDrawnBySystem = isFull;
      show();
    });
  }
  show();
}

/** Returns the index of the track in the preferred language. @param {readonly TextTrack[]} tracks */
function preferredTrack(tracks) {
  const spoken = navigator.languages.map((language) => language.split('-')[0]);
  const ranks = tracks.map(({ language }) => {
    const rank = spoken.indexOf(language.split('-')[0]);
    return rank < 0 ? spoken.length : rank;
  });
  return ranks.indexOf(Math.min(...ranks));
}

/** @param {TextTrackCue} cue */
function cueLine(cue) {
  const line = document.createElement('p');
  line.dir = 'auto';
  const text = document.createElement('span');
  if (cue instanceof VTTCue) text.append(cue.getCueAsHTML());
  line.append(text);
  return line;
}
