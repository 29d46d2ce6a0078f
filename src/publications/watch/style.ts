const TRIANGLE =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Ccircle cx='12' cy='12' r='12' fill='%23000' fill-opacity='.6'/%3E%3Cpath d='M9.5 7v10l8-5z' fill='%23fff'/%3E%3C/svg%3E";

/** How the watch page looks, on a desk and on a phone, by day and by night. */
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
.facts span + span::before { content: " · "; }
.description { margin-top: 1.1rem; white-space: pre-line; max-width: 46rem; }
ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .6rem; }
ul a { display: block; padding: .45rem .9rem; border: 1px solid var(--line); border-radius: .5rem; color: inherit; text-decoration: none; }
ul a:hover { border-color: var(--accent); }
ul small { color: var(--faint); }
:focus-visible { outline: 3px solid #6cb2ff; outline-offset: 2px; }

.player { background: #0b0d10; color: #fff; }
.screens { position: relative; display: flex; align-items: center; justify-content: center; gap: 3px; max-width: 120rem; margin: 0 auto; cursor: pointer; }
.screens video { flex: 1 1 0; width: 0; min-width: 0; height: auto; max-height: max(100vh - 11rem, 60vh); background: #000; object-fit: contain; display: block; }
.screens img { display: block; width: 100%; max-width: 62rem; height: clamp(8rem, 26vh, 16rem); object-fit: fill; }
.screens .wave { position: relative; width: 100%; max-width: 62rem; margin: 0 auto; padding: 1rem 0; }
.wave::after { content: ""; position: absolute; inset: 0 auto 0 calc(var(--position, 0) * 100%); width: 2px; background: #fff; opacity: .8; }
.screens .listen { width: 100%; max-width: 62rem; padding: 2rem 1.25rem; }
.player[data-state="paused"]:not([data-started]) .screens::after {
  content: ""; position: absolute; inset: calc(50% - 2.4rem) auto auto calc(50% - 2.4rem); width: 4.8rem; height: 4.8rem;
  background: url("${TRIANGLE}"); pointer-events: none;
}
.notice { margin: 0; padding: .7rem 1.25rem; background: #7a1f1f; text-align: center; }
.bar { max-width: 120rem; margin: 0 auto; padding: .35rem .9rem .6rem; }
.seek { position: relative; }
.buttons { display: flex; align-items: center; gap: .35rem; }
.time { margin: 0 auto 0 .5rem; font-variant-numeric: tabular-nums; white-space: nowrap; font-size: .92rem; }
button, select { font: inherit; color: #fff; background: none; border: 0; border-radius: .4rem; height: 2.5rem; cursor: pointer; }
button { width: 2.5rem; padding: 0; display: grid; place-items: center; }
button:hover, select:hover { background: #ffffff22; }
select { padding: 0 .3rem; font-size: .92rem; }
option { color: #1d2129; background: #fff; }
svg { width: 1.5rem; height: 1.5rem; fill: currentColor; grid-area: 1 / 1; }
.player[data-state="playing"] .is-paused, .player:not([data-state="playing"]) .is-playing,
.player[data-volume="off"] .is-on, .player:not([data-volume="off"]) .is-off { visibility: hidden; }

input[type="range"] { -webkit-appearance: none; appearance: none; display: block; width: 100%; height: 1.6rem; margin: 0; background: none; cursor: pointer; }
input::-webkit-slider-runnable-track { height: .3rem; border-radius: .2rem; background: linear-gradient(#4aa3ff, #4aa3ff) 0 / calc(var(--share, 0) * 100%) 100% no-repeat #ffffff3d; }
input::-webkit-slider-thumb { -webkit-appearance: none; width: .95rem; height: .95rem; margin-top: -.325rem; border-radius: 50%; background: #fff; }
input::-moz-range-track { height: .3rem; border-radius: .2rem; background: #ffffff3d; }
input::-moz-range-progress { height: .3rem; border-radius: .2rem; background: #4aa3ff; }
input::-moz-range-thumb { width: .95rem; height: .95rem; border: 0; border-radius: 50%; background: #fff; }
.buttons input[type="range"] { width: 5.5rem; }
.preview { position: absolute; bottom: 1.7rem; transform: translateX(-50%); padding: 3px; border-radius: .35rem; background: #000c; text-align: center; font-size: .85rem; pointer-events: none; z-index: 1; }
.preview span { display: block; padding: 0 .35rem; font-variant-numeric: tabular-nums; }

.player:fullscreen { display: flex; flex-direction: column; }
.player:fullscreen .screens { flex: 1; min-height: 0; width: 100%; max-width: none; }
.player:fullscreen .screens video { max-height: 100%; }
.player:fullscreen .bar { width: 100%; max-width: none; }

@media (max-width: 44rem) {
  .screens { flex-direction: column; align-items: stretch; }
  .screens video { flex: none !important; width: 100%; max-height: 60vh; }
  .buttons input[type="range"] { display: none; }
  .player:fullscreen .screens video { flex: 0 1 auto !important; min-height: 0; }
}
`;
