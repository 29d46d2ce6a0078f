/** The style of the plans of a week and of a day: a grid on wide screens, lists on narrow ones. */
const PLAN_STYLE = `
.scheduled { --tone: var(--faint); }
.recording { --tone: var(--busy); }
.ingesting { --tone: var(--ingesting); }
.processing { --tone: var(--held); }
.published { --tone: var(--good); }
.done { --tone: var(--faint); }
.failed, .silent { --tone: var(--alarm); }
.plan { padding: 1rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); }
.plan section { margin: 0; }
.plan h3 { margin: 0; font-size: .95rem; overflow-wrap: anywhere; }
.plan h3 a { text-decoration: none; }
.plan h3 a:hover { text-decoration: underline; }
.plan ol { list-style: none; margin: .3rem 0 0; padding: 0; }
.plan li + li { margin-top: .3rem; }
.plan .none { margin: 0; }
.plan .block > * { display: block; height: 100%; padding: .25rem .5rem; border: 0; border-left: 3px solid var(--tone); border-radius: .3rem; background: color-mix(in srgb, var(--tone) 14%, var(--sheet)); color: inherit; font-size: .85rem; line-height: 1.3; text-decoration: none; overflow: hidden; overflow-wrap: anywhere; }
.plan .block a:hover { background: color-mix(in srgb, var(--tone) 26%, var(--sheet)); }
.plan .block span { display: inline; }
.plan .block .title { font-weight: 600; color: var(--text); }
.plan .block .look { color: var(--tone); font-size: .8rem; }
.plan .block .times { font-size: .8rem; white-space: normal; }
.plan .scheduled > * { background: var(--sheet); border: 1px solid var(--line); border-left: 3px solid var(--tone); }
.plan .silent > * { border: 1px dashed var(--tone); border-left: 3px solid var(--tone); }
.ruler { color: var(--faint); font-size: .8rem; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin-top: .7rem; color: var(--faint); font-size: .85rem; }
.legend li + li { margin: 0; }
.legend li::before { content: ""; display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; border-left: 3px solid var(--tone); border-radius: .2rem; background: color-mix(in srgb, var(--tone) 22%, var(--sheet)); vertical-align: -.1rem; }
.legend .scheduled::before { border: 1px solid var(--line); border-left: 3px solid var(--tone); background: var(--sheet); }
.legend .silent::before { border: 1px dashed var(--tone); border-left: 3px solid var(--tone); }
.idle-agents { overflow-wrap: anywhere; margin-top: .9rem; }
.now { display: none; }
@media (max-width: 50rem) {
  .plan section + section { margin-top: 1rem; }
  .ruler, .legend { display: none; }
}
@media (min-width: 50.01rem) {
  .plan ol { position: relative; margin: 0; }
  .plan li + li { margin: 0; }
  .plan .block { position: absolute; padding: 1px 2px; z-index: 1; }
  .plan .block:focus-within { z-index: 2; }
  .now { display: block; position: absolute; }
  .week { display: grid; grid-template-columns: 3.2rem repeat(7, minmax(0, 1fr)); padding-left: .6rem; }
  .week > * { --height: calc(var(--shown) / 60 * 3rem); }
  .week section { position: relative; border-left: 1px solid var(--line); }
  .week h3 { height: 1.9rem; padding-left: .4rem; font-size: .88rem; white-space: nowrap; overflow: hidden; }
  .week .today h3 { color: var(--accent); }
  .week ol, .week .none { height: var(--height); background: repeating-linear-gradient(to bottom, var(--line) 0 1px, transparent 1px 3rem); }
  .week .none { color: transparent; overflow: hidden; }
  .week .ruler { position: relative; height: var(--height); margin-top: 1.9rem; }
  .week .ruler span { position: absolute; right: .5rem; top: calc((var(--at) - var(--first)) / var(--shown) * 100%); transform: translateY(-50%); }
  .week .block { top: calc((var(--at) - var(--first)) / var(--shown) * 100%); height: calc(var(--for) / var(--shown) * 100%); left: calc(var(--lane, 0) / var(--of, 1) * 100%); width: calc(100% / var(--of, 1)); }
  /* A line without room wraps into another column, which is hidden. */
  .week .block > * { display: flex; flex-flow: column wrap; column-gap: 1rem; }
  .week .block > * > span { display: block; width: 100%; }
  .week .now { top: calc(1.9rem + (var(--at) - var(--first)) / 60 * 3rem); left: 0; right: 0; border-top: 2px solid var(--accent); }
  .week .now::before { content: ""; position: absolute; z-index: 2; top: -6px; left: -5px; width: 10px; height: 10px; border-radius: 50%; background: var(--accent); }
  .day section, .day .ruler { display: grid; grid-template-columns: 10rem minmax(0, 1fr); position: relative; }
  .day section { min-height: 2.6rem; align-items: center; border-top: 1px solid var(--line); }
  .day h3 { padding: .2rem .8rem .2rem 0; font-size: .9rem; }
  .day ol { align-self: stretch; background: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px calc(100% / var(--shown) * 60)); }
  .dense span:nth-child(even) { display: none; }
  .day .block { padding-block: 3px; left: calc((var(--at) - var(--first)) / var(--shown) * 100%); width: calc(var(--for) / var(--shown) * 100%); top: calc(var(--lane, 0) / var(--of, 1) * 100%); height: calc(100% / var(--of, 1)); }
  .day .block > * { padding-block: 0; display: grid; align-content: center; }
  .day .block span { display: block; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  .day .block .times, .day .block .look { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; }
  .day .ruler { height: 1.6rem; }
  .day .ruler::before { content: ""; }
  .day .ruler span { position: absolute; left: calc(10rem + (100% - 10rem) * (var(--at) - var(--first)) / var(--shown)); transform: translateX(-50%); }
  .day .now { top: 0; bottom: 0; left: calc(10rem + (100% - 10rem) * (var(--at) - var(--first)) / var(--shown)); border-left: 2px solid var(--accent); }
}
`;

/** The style of the page about capture agents. */
export const STYLE = `
:root { --ingesting: #7b4fc4; }
@media (prefers-color-scheme: dark) { :root { --ingesting: #b99aff; } }
small, .none, .times { color: var(--faint); font-size: .88rem; }
small { display: block; overflow-wrap: anywhere; }
.times { white-space: nowrap; font-variant-numeric: tabular-nums; }
.alarm { font-weight: 600; }
strong.alarm { display: block; }
nav, .tools { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.2rem; }
.tools { margin: 1.2rem 0; }
.tools form { display: flex; flex: 1 1 16rem; max-width: 26rem; gap: .5rem; }
.tools input:not([type=hidden]) { flex: 1; margin: 0; min-width: 0; }
.tools button { margin: 0; }
.heading { margin-bottom: .9rem; }
.agents, .rows { border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); overflow: hidden; }
.agents > *, .rows > * { display: grid; gap: .3rem 1.4rem; padding: .7rem 1rem; }
.agents > * { grid-template-columns: minmax(9rem, 1.1fr) minmax(12rem, 1.1fr) minmax(0, 1.6fr) minmax(0, 1.6fr); }
.rows > * { grid-template-columns: minmax(0, 1.3fr) minmax(0, 1.6fr) minmax(0, .7fr); }
.agents li + li, .rows li + li { margin: 0; border-top: 1px solid var(--line); }
.agents > * > *, .rows > * > * { min-width: 0; overflow-wrap: anywhere; }
.agents a, .rows a { text-decoration: underline; text-underline-offset: .15em; text-decoration-thickness: 1px; }
.agents strong a, .rows strong a { text-decoration: none; }
.agents a:hover, .rows a:hover { text-decoration: underline; text-decoration-thickness: 2px; }
.heads { color: var(--faint); font-size: .85rem; font-weight: 600; padding-block: .45rem; }
.work .title { display: block; }
.one .label { display: block; color: var(--faint); font-size: .85rem; font-weight: 600; }
.agents:not(.one) .label { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; white-space: nowrap; }
.state { margin-right: .35rem; }
.state::before { border: 2px solid var(--tone, var(--faint)); background: var(--tone, transparent); }
.state.idle { --tone: var(--good); }
.state.capturing { --tone: var(--busy); }
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
