/**
 * Shows the captions of a player's leader over all of its pictures, which the browser's own would do over one of them,
 * and not at all where sound leads. Without this script the browser's own controls offer them.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function showCaptions(player: HTMLElement): void {
  const leader = player.querySelector<HTMLMediaElement>('[data-leader]');
  const button = player.querySelector<HTMLElement>('[data-part="captions"]');
  const choice = player.querySelector<HTMLSelectElement>('[data-part="language"]');
  const shown = player.querySelector<HTMLElement>('[data-part="cues"]');
  if (!leader || !button || !choice || !shown) return;
  const tracks = [...leader.textTracks];
  const spoken = navigator.languages.map((language) => language.split('-')[0]);
  const ranks = tracks.map(({ language }) => {
    const rank = spoken.indexOf(language.split('-')[0]);
    return rank < 0 ? spoken.length : rank;
  });
  let chosen = Math.max(0, ranks.indexOf(Math.min(...ranks)));
  let on = false;

  const draw = () => {
    const track = tracks[chosen];
    const cues = on ? [...(track?.activeCues ?? [])] : [];
    shown.lang = track?.language ?? '';
    shown.replaceChildren(
      ...cues.map((cue) => {
        const line = document.createElement('p');
        line.dir = 'auto';
        const text = document.createElement('span');
        if (cue instanceof VTTCue) text.append(cue.getCueAsHTML());
        line.append(text);
        return line;
      }),
    );
  };
  const show = () => {
    // Hidden from the browser's eye, they tell which of them is due.
    for (const [i, track] of tracks.entries()) track.mode = on && i === chosen ? 'hidden' : 'disabled';
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
  // Whoever always wants captions has told so to the browser, which then shows some.
  const adopt = () => {
    const showing = tracks.findIndex(({ mode }) => mode === 'showing');
    if (showing < 0) return;
    chosen = showing;
    on = true;
    show();
  };
  leader.textTracks.addEventListener('change', adopt);
  show();
}
