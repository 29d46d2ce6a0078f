import { BASE_STYLE } from '#platform/http/answer/html-page.ts';

/** The style of the upload page. */
export const UPLOAD_PAGE_STYLE = `${BASE_STYLE}
:root { --good: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --good: #5ecb7a; } }
[hidden] { display: none !important; }
body { overflow-wrap: anywhere; }
main { max-width: 46rem; padding-top: clamp(1.25rem, 5vh, 3rem); }
header { flex-wrap: wrap; justify-content: space-between; gap: .6rem 1.5rem; }
.brand { display: flex; align-items: center; gap: .8rem; }
h1 { font-size: clamp(1.5rem, 5vw, 1.9rem); }
h2 { margin: 0; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0; font-size: 1.05rem; line-height: 1.35; }
h2:focus, h3:focus { outline: none; }
p { margin: .5rem 0; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
button, .button { display: inline-block; margin: 0; padding: .5rem 1rem; border: 1px solid transparent; border-radius: .6rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; line-height: 1.4; text-decoration: none; cursor: pointer; }
a.button { color: var(--on-accent); }
.quiet { background: none; border-color: var(--line); color: inherit; font-weight: 500; }
.quiet:hover { border-color: var(--accent); }
.button:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }

.who { display: flex; align-items: center; gap: .8rem; }
.who p { margin: 0; color: var(--faint); }
.sheet { margin-top: 1.5rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .9rem; background: var(--sheet); }
.drop { margin-top: 1rem; padding: 1.5rem 1rem; border: 2px dashed var(--line); border-radius: .8rem; text-align: center; }
.drop p { margin: 0 0 .8rem; }
.drop.over { border-color: var(--accent); background: color-mix(in srgb, var(--accent) 10%, transparent); }
.drop ul { margin-top: 1rem; text-align: left; }
.drop li { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .8rem; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--ground); }
.drop li > span { flex: 1 1 12rem; min-width: 0; }
.drop li small, .faint, .hint { color: var(--faint); font-size: .92rem; }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 1.25rem; margin-top: 1.25rem; }
.fields > .wide { grid-column: 1 / -1; }
.fields label { display: block; font-weight: 500; }
.fields .hint { display: block; margin: .4rem 0 0; font-weight: 400; line-height: 1.4; }
input:not([type=hidden]):not(.unseen), textarea, select { display: block; width: 100%; min-width: 0; margin-top: .3rem; padding: .55rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--ground); color: inherit; font: inherit; }
textarea { resize: vertical; field-sizing: content; }
.fields input:not(.unseen), textarea, .fields select { min-height: 2.9rem; }
.drop select { width: auto; margin: 0; background: var(--sheet); }
input.unseen:not([type=hidden]) { display: inline-block; width: 1px; height: 1px; margin: -1px; padding: 0; border: 0; }
.button { position: relative; }
.combobox { position: relative; }
#series { padding-right: 2.6rem; text-overflow: ellipsis; }
.combobox ul { position: absolute; z-index: 1; top: 100%; left: 0; right: 0; max-height: 16rem; overflow: auto; margin-top: .25rem; padding: .3rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); box-shadow: 0 .6rem 1.6rem #0003; }
.combobox li { margin: 0; padding: .45rem .6rem; border-radius: .4rem; cursor: pointer; }
.combobox li:hover { background: color-mix(in srgb, var(--accent) 12%, transparent); }
.combobox li[aria-selected=true] { background: var(--accent); color: var(--on-accent); }
.combobox button { position: absolute; right: .3rem; bottom: .3rem; width: 2.1rem; height: 2.1rem; padding: 0; border: 0; }
.acts { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; margin-top: 1.1rem; }
[role=alert] { margin: 1rem 0 0; padding: .6rem .8rem; border: 1px solid var(--alarm); border-radius: .6rem; color: var(--alarm); }

.list { margin-top: 2.25rem; }
.list ol { list-style: none; margin: 0; padding: 0; }
.card { margin-top: .8rem; }
.card .facts { margin: .15rem 0 0; }
.card .state { margin: .7rem 0 0; }
.card .figures { margin: .3rem 0 0; font-variant-numeric: tabular-nums; }
.card[data-condition=failed] .state, .card[data-condition=unpublished] .state { color: var(--alarm); }
.card[data-condition=failed] { border-color: var(--alarm); }
.card[data-condition="signed out"], .card[data-condition="needs files"] { border-color: var(--accent); }
.card[data-condition=over] .state { color: var(--good); font-weight: 600; }
.card .hint { color: var(--alarm); }
progress { display: block; width: 100%; height: .55rem; margin-top: .8rem; border: 0; border-radius: .3rem; background: var(--line); overflow: hidden; accent-color: var(--accent); appearance: none; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); border-radius: .3rem; }
progress::-moz-progress-bar { background: var(--accent); }
.card[data-condition=paused] progress, .card[data-condition=waiting] progress, .card[data-condition=queued] progress { opacity: .55; }
progress:indeterminate { background: linear-gradient(90deg, var(--line) 30%, var(--accent) 50%, var(--line) 70%) 0 / 200% 100%; animation: to-and-fro 2s linear infinite; }
progress:indeterminate::-webkit-progress-bar { background: none; }
progress:indeterminate::-moz-progress-bar { background: none; }
@keyframes to-and-fro { from { background-position: 200% 0; } to { background-position: 0 0; } }
@media (prefers-reduced-motion: reduce) { progress:indeterminate { animation: none; background: repeating-linear-gradient(90deg, var(--accent) 0 .5rem, var(--line) .5rem 1rem); } }

dialog { width: min(26rem, calc(100vw - 2.5rem)); padding: 1.5rem; border: 1px solid var(--line); border-radius: .9rem; background: var(--sheet); color: inherit; }
dialog::backdrop { background: #0008; }
dialog label { display: block; margin-top: 1rem; }
@media (max-width: 36rem) {
  .fields { grid-template-columns: 1fr; }
  .sheet { padding: 1rem; }
  .drop { padding-inline: .5rem; }
}
`;
