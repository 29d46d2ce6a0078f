import { BASE_STYLE } from '#platform/http/answer/html-page.ts';

/** The style of all pages for operators. */
export const FRAME_STYLE = `${BASE_STYLE}
:root { --good: #1e7d4f; --busy: #0b6bcb; --held: #a15c00; }
@media (prefers-color-scheme: dark) { :root { --good: #62c796; --busy: #6cb2ff; --held: #f0b35a; } }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .4rem .8rem; background: var(--sheet); z-index: 2; }
.frame { flex-wrap: wrap; gap: .4rem 1.2rem; padding: .7rem 1.25rem; border-bottom: 1px solid var(--line); background: var(--sheet); }
.frame img { width: 1.6rem; height: 1.6rem; }
.brand { display: flex; align-items: center; gap: .5rem; color: var(--text); font-weight: 700; text-decoration: none; }
.frame nav { display: flex; flex-wrap: wrap; gap: .15rem .3rem; flex: 1; }
.frame nav a { padding: .3rem .6rem; border-radius: .4rem; color: var(--faint); text-decoration: none; }
.frame nav a:hover { color: var(--accent); }
.frame nav a[aria-current] { background: var(--ground); color: var(--text); font-weight: 600; }
.account { display: flex; align-items: center; gap: .6rem; color: var(--faint); }
main { max-width: 76rem; padding: 1.6rem 1.25rem 3rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .6rem; font-size: 1.2rem; line-height: 1.3; overflow-wrap: anywhere; }
h3 { margin: 0; font-size: 1rem; line-height: 1.4; overflow-wrap: anywhere; }
section { margin-top: 1.8rem; }
section > p, .faint { color: var(--faint); }
section > p.alarm { color: var(--alarm); }
section > p { margin: .2rem 0 .8rem; overflow-wrap: anywhere; }
.notice { padding: .6rem .9rem; border: 1px solid var(--good); border-radius: .6rem; color: var(--good); }
.alarm { color: var(--alarm); }
.sheet { border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); padding: .8rem 1rem; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.2rem; }
.facts { display: flex; flex-wrap: wrap; gap: .6rem 1.4rem; margin: 0; }
.facts > div { min-width: min(10rem, 100%); }
.facts dt { color: var(--faint); font-size: .85rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .5rem .8rem; text-align: left; vertical-align: top; }
th { color: var(--faint); font-size: .85rem; font-weight: 600; white-space: nowrap; }
tr + tr td, tbody tr:first-child td { border-top: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
main li a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
progress { appearance: none; display: block; width: 100%; height: .5rem; margin: .25rem 0; border: 0; border-radius: .25rem; background: var(--line); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--busy); }
progress::-moz-progress-bar { background: var(--busy); }
@media (forced-colors: active) { progress { appearance: auto; } }
.actions { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
.actions form { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0; }
.actions button, .tools button { margin: 0; padding: .35rem .8rem; font-size: .92rem; }
button { white-space: nowrap; }
.confirm { display: inline-block; }
.confirm form { margin-top: .3rem; }
.confirm button { white-space: normal; }
details summary { cursor: pointer; color: var(--faint); font-size: .92rem; }
button.quiet, a.button { margin: 0; padding: .35rem .8rem; border: 1px solid var(--line); background: var(--sheet); color: var(--text); font-weight: 500; font-size: .92rem; }
button.quiet:hover, a.button:hover { border-color: var(--accent); }
a.button { display: inline-block; border-radius: .6rem; text-decoration: none; }
button.danger { border: 1px solid var(--alarm); background: var(--sheet); color: var(--alarm); }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: stretch; margin: 1rem 0; }
.tools input:not([type=hidden]), .tools select { margin: 0; padding: .3rem .75rem; width: auto; min-width: 0; }
pre { margin: .5rem 0 0; padding: .6rem .8rem; overflow: auto; max-height: 16rem; border-radius: .4rem; background: var(--ground); font-size: .82rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.state { font-weight: 600; white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: .62rem; height: .62rem; margin-right: .4rem; border-radius: 50%; background: var(--tone, var(--faint)); }
.state.running, .state.instantiated, .state.recording, .state.ingesting { --tone: var(--busy); }
.state.succeeded { --tone: var(--good); }
.state.paused { --tone: var(--held); }
.state.failed, .state.failing, .state.recording_failure { --tone: var(--alarm); color: var(--alarm); }
@media (max-width: 40rem) { .frame nav { flex-basis: 100%; order: 3; } main, .frame { padding-inline: .8rem; } .account { margin-left: auto; } }
`;

/** Lists with columns, which become one column in a narrow window. */
export const ROWS_STYLE = `
.rows, .recordings { border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); }
.rows li, .recordings li { margin: 0; padding: .55rem .9rem; }
.rows li + li, .recordings li + li { border-top: 1px solid var(--line); }
.rows li { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1.6fr) minmax(0, 1.4fr) 11rem; gap: .2rem 1.2rem; align-items: center; }
.rows li > * { min-width: 0; overflow-wrap: anywhere; }
.rows li > .actions, .rows li > form:last-child { justify-self: end; }
@media (max-width: 46rem) {
  .rows li { grid-template-columns: minmax(0, 1fr); }
  .rows li > .actions, .rows li > form:last-child { justify-self: start; }
}
`;
