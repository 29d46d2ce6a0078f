import { PLAN_STYLE } from './plan-style.ts';

/** How the page about capture agents looks; what stands in its plan is placed by rules of their own. */
export const STYLE = `
:root { --idle: #1e7d4f; --recording: #0b6bcb; --ingesting: #7b4fc4; --processing: #a15c00; --published: #1e7d4f; }
@media (prefers-color-scheme: dark) {
  :root { --idle: #62c796; --recording: #6cb2ff; --ingesting: #b99aff; --processing: #f0b35a; --published: #62c796; }
}
small, .none, .times { color: var(--faint); font-size: .88rem; }
small { display: block; overflow-wrap: anywhere; }
time, .times { white-space: nowrap; }
.times, time { font-variant-numeric: tabular-nums; }
.alarm { color: var(--alarm); font-weight: 600; }
strong.alarm { display: block; }
nav, .tools { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.2rem; }
.tools { margin: 1.2rem 0; }
.tools form { display: flex; flex: 1 1 16rem; max-width: 26rem; gap: .5rem; }
.tools input:not([type=hidden]) { margin: 0; min-width: 0; }
.tools button { margin: 0; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.2rem; margin-bottom: .9rem; }
.agents, .rows { border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); overflow: hidden; }
.agents > *, .rows > * { display: grid; gap: .3rem 1.4rem; padding: .7rem 1rem; }
.agents > * { grid-template-columns: minmax(9rem, 1.1fr) minmax(12rem, 1.1fr) minmax(0, 1.6fr) minmax(0, 1.6fr); }
.rows > * { grid-template-columns: minmax(0, 1.3fr) minmax(0, 1.6fr) minmax(0, .7fr); }
.agents li + li, .rows li + li { margin: 0; border-top: 1px solid var(--line); }
.agents > * > *, .rows > * > * { min-width: 0; overflow-wrap: anywhere; }
.agents a, .rows a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: .15em; text-decoration-thickness: 1px; }
.agents strong a, .rows strong a { text-decoration: none; }
.agents a:hover, .rows a:hover { text-decoration: underline; text-decoration-thickness: 2px; }
.heads { color: var(--faint); font-size: .85rem; font-weight: 600; padding-block: .45rem; }
.work .title { display: block; }
.one .label { display: block; color: var(--faint); font-size: .85rem; font-weight: 600; }
.agents:not(.one) .label { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; white-space: nowrap; }
.state { margin-right: .35rem; font-weight: 600; white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: .62rem; height: .62rem; margin-right: .45rem; border: 2px solid var(--tone, var(--faint)); border-radius: 50%; background: var(--tone, transparent); }
.state.idle { --tone: var(--idle); }
.state.capturing { --tone: var(--recording); }
.state.uploading { --tone: var(--ingesting); }
.state.error { --tone: var(--alarm); color: var(--alarm); }
.state.offline { color: var(--alarm); }
.state.offline::before { border-color: var(--alarm); }
@media (max-width: 50rem) {
  .heads { display: none; }
  .heads + li { border-top: 0; }
  .agents > *, .rows > * { grid-template-columns: minmax(0, 1fr); }
  .agents:not(.one) .label { position: static; clip-path: none; width: auto; height: auto; margin-right: .3rem; color: var(--faint); font-size: .85rem; font-weight: 600; }
  .work .title { display: inline; }
  .work.free { display: none; }
  .agent small { display: inline; margin-right: .7rem; }
  .agent strong { display: block; }
}
${PLAN_STYLE}`;
