/** The style of the watch page. */
export const STYLE = `
:root { --ground: #f5f6f8; --text: #1d2129; --faint: #5b6472; --line: #d9dde4; --accent: #0b6bcb; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #15181d; --text: #e9ecf1; --faint: #9aa4b2; --line: #2d333c; --accent: #6cb2ff; color-scheme: dark; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { margin: 0; font-size: clamp(1.35rem, 3.2vw, 1.9rem); line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; font-size: 1.05rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.series { margin: 0 0 .15rem; color: var(--accent); font-weight: 600; }
.facts { color: var(--faint); }
.facts time { white-space: nowrap; }
.facts span + span::before { content: " · "; }
.description { margin-top: 1.1rem; white-space: pre-line; max-width: 46rem; }
ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .6rem; }
ul a { display: block; padding: .45rem .9rem; border: 1px solid var(--line); border-radius: .5rem; color: inherit; text-decoration: none; }
ul a:hover { border-color: var(--accent); }
ul small { color: var(--faint); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.player { --accent: #6cb2ff; position: relative; background: #0b0d10; color: #fff; forced-color-adjust: none; }
.screens { position: relative; isolation: isolate; display: flex; align-items: center; justify-content: center; gap: 3px; max-width: 120rem; margin: 0 auto; cursor: pointer; }
.screens video { flex: 1 1 0; width: 0; min-width: 0; height: auto; max-height: max(100vh - 11rem, 60vh); background: #000; object-fit: contain; display: block; }
.screens img { display: block; width: 100%; max-width: 62rem; height: clamp(8rem, 26vh, 16rem); object-fit: fill; }
.screens .wave { position: relative; width: 100%; max-width: 62rem; margin: 0 auto; padding: 1rem 0; }
.wave::after { content: ""; position: absolute; inset: 0 auto 0 calc(var(--position, 0) * 100%); width: 2px; background: #fff; opacity: .8; }
.screens .listen { width: 100%; max-width: 62rem; padding: 2rem 1.25rem; }
.screens[data-swapped] { flex-direction: row-reverse; }
.screens[data-layout="corner"] video:not(.is-small) { width: 100%; }
.screens[data-layout="corner"] .is-small { position: absolute; z-index: 1; inset: .75rem .75rem auto auto; flex: none !important; width: 26%; min-width: 7rem; box-shadow: 0 0 0 1px #fff5, 0 .2rem 1rem #000b; }
.start { position: absolute; z-index: 2; inset: calc(50% - 2.4rem) auto auto calc(50% - 2.4rem); width: 4.8rem; height: 4.8rem; border-radius: 50%; background: #000a; box-shadow: 0 0 0 2px #fff8; }
.start:hover { background: #000d; }
.start svg { width: 3.2rem; height: 3.2rem; }
.player[data-waiting] .screens::after { content: ""; position: absolute; z-index: 2; inset: calc(50% - 1.6rem) auto auto calc(50% - 1.6rem); width: 3.2rem; height: 3.2rem; border: .3rem solid #fff5; border-top-color: #fff; border-radius: 50%; animation: turn 1s linear infinite; pointer-events: none; }
@keyframes turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .player[data-waiting] .screens::after { animation-duration: 4s; } }
.cues { position: absolute; z-index: 1; inset: auto 0 0; padding: .6rem .75rem; text-align: center; pointer-events: none; font-size: clamp(.95rem, .5rem + 1.6vw, 1.9rem); line-height: 1.35; }
.cues p { margin: .15rem 0 0; }
.cues span { padding: .1em .4em; border-radius: .2em; background: #000c; white-space: pre-line; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
.notice { margin: 0; padding: .7rem 1.25rem; background: #7a1f1f; text-align: center; }
.notice button { display: inline; width: auto; height: auto; text-decoration: underline; }
.bar { position: relative; max-width: 120rem; margin: 0 auto; padding: .35rem .9rem .6rem; }
.seek { position: relative; }
.marks span { position: absolute; top: .55rem; width: 2px; height: .5rem; margin-left: -1px; background: #fff; pointer-events: none; }
.buttons { display: flex; align-items: center; gap: .35rem; }
.time { margin: 0 auto 0 .5rem; font-variant-numeric: tabular-nums; white-space: nowrap; font-size: .92rem; }
button, select { font: inherit; color: #fff; background: none; border: 0; border-radius: .4rem; height: 2.5rem; cursor: pointer; }
button { width: 2.5rem; padding: 0; display: grid; place-items: center; }
button:hover, select:hover { background: #ffffff22; }
button[aria-pressed="true"] { box-shadow: inset 0 -3px var(--accent); }
select { padding: 0 .3rem; font-size: .92rem; }
button[aria-expanded="true"] { background: #ffffff22; }
.panel { position: absolute; z-index: 3; inset: auto .9rem 3.6rem auto; width: min(21rem, 100% - 1.8rem); max-height: min(70vh, 100vh - 4.2rem); overflow: auto; padding: .6rem .9rem; border-radius: .6rem; background: #1c2027f5; box-shadow: 0 0 0 1px #ffffff2b, 0 .4rem 1.6rem #000a; font-size: .95rem; }
.panel label { display: flex; align-items: center; justify-content: space-between; gap: .9rem; min-height: 2.75rem; padding-block: .15rem; white-space: nowrap; }
.panel select { width: 11rem; background: #ffffff1a; text-overflow: ellipsis; }
.panel input { flex: 1; min-width: 0; padding: .4rem .6rem; border: 1px solid #ffffff4d; border-radius: .4rem; background: #0b0d10; color: #fff; font: inherit; font-size: .85rem; text-overflow: ellipsis; }
.panel input[type="checkbox"] { flex: none; width: 1.3rem; height: 1.3rem; accent-color: var(--accent); }
.panel .wide { width: 100%; margin: .3rem 0 .5rem; background: #ffffff1a; }
.panel .wide:hover { background: #ffffff33; }
.panel ol { list-style: none; margin: 0; padding: 0; }
.panel ol button { display: flex; align-items: baseline; gap: .7rem; width: 100%; height: auto; min-height: 2.75rem; padding: .45rem .3rem; text-align: start; }
.panel ol time { min-width: 3.2rem; color: #b9c2cf; font-variant-numeric: tabular-nums; text-align: end; }
.panel [aria-current] { font-weight: 600; box-shadow: inset 3px 0 var(--accent); }
.panel p { margin: 0; min-height: 1.5em; font-size: .9rem; }
.player:not(:has(video), :fullscreen) .panel { inset: 100% .9rem auto auto; }
option { color: #1d2129; background: #fff; }
svg { width: 1.5rem; height: 1.5rem; fill: currentColor; fill-rule: evenodd; grid-area: 1 / 1; }
.player[data-state="playing"] .is-paused, .player:not([data-state="playing"]) .is-playing,
.player[data-volume="off"] .is-on, .player:not([data-volume="off"]) .is-off { visibility: hidden; }

input[type="range"] { -webkit-appearance: none; appearance: none; display: block; width: 100%; height: 1.6rem; margin: 0; background: none; cursor: pointer; }
input::-webkit-slider-runnable-track { height: .3rem; border-radius: .2rem; background: linear-gradient(#4aa3ff, #4aa3ff) 0 / calc(var(--share, 0) * 100%) 100% no-repeat #ffffff3d; }
input::-webkit-slider-thumb { -webkit-appearance: none; width: .95rem; height: .95rem; margin-top: -.325rem; border-radius: 50%; background: #fff; }
input::-moz-range-track { height: .3rem; border-radius: .2rem; background: #ffffff3d; }
input::-moz-range-progress { height: .3rem; border-radius: .2rem; background: #4aa3ff; }
input::-moz-range-thumb { width: .95rem; height: .95rem; border: 0; border-radius: 50%; background: #fff; }
.buttons input[type="range"] { width: 5.5rem; }
.seek input { touch-action: none; }
.preview { position: absolute; bottom: 100%; transform: translateX(-50%); padding: 3px; border-radius: .35rem; background: #000c; text-align: center; font-size: .85rem; pointer-events: none; z-index: 1; }
.preview div { margin: 0 auto; }
.preview span { display: block; max-width: 11rem; padding: 0 .35rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums; }

.player:fullscreen { display: flex; flex-direction: column; }
.player:fullscreen .screens { flex: 1; min-height: 0; width: 100%; max-width: none; }
.player:fullscreen .screens video { max-height: 100%; }
.player:fullscreen .bar { width: 100%; max-width: none; }

@media (pointer: coarse) {
  .buttons button, .buttons select, .panel input { height: 2.75rem; min-width: 2.75rem; }
  .seek input { height: 2.75rem; }
  ul a { padding: .6rem .9rem; }
}
/* The buttons take two rows. */
@media (max-width: 22rem) { .panel { bottom: 6.6rem; max-height: min(70vh, 100vh - 7.2rem); } }
@media (max-width: 44rem) {
  .screens { flex-direction: column; align-items: stretch; }
  .screens[data-swapped] { flex-direction: column-reverse; }
  .screens video { flex: none !important; width: 100%; max-height: 60vh; }
  .bar { padding-inline: .2rem; }
  .buttons { flex-wrap: wrap; column-gap: 0; }
  .buttons input[type="range"] { display: none; }
  .buttons [data-part="mute"] { margin-right: auto; }
  .time { order: -1; flex-basis: 100%; margin: 0 .6rem; }
  .player:fullscreen .screens video { flex: 0 1 auto !important; min-height: 0; }
}
`;
