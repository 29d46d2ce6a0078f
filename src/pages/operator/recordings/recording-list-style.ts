/** The style of the list of recordings, and of the results of its actions. */
export const LIST_STYLE = `
html { scroll-padding-bottom: 5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.filters { display: flex; flex-wrap: wrap; gap: .6rem .8rem; align-items: end; margin: 1rem 0; }
.filters label { display: grid; gap: .15rem; flex: 1 1 9rem; color: var(--faint); font-size: .85rem; }
.filters .wide { flex: 1 1 100%; }
.filters input:not([type=hidden]), .filters select, .selected select { margin: 0; padding: .35rem .6rem; width: 100%; min-width: 0; height: 2.3rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); color: var(--text); font: inherit; font-size: 1rem; }
.results th a { color: inherit; }
.results th[aria-sort] a { color: var(--text); }
.results th[aria-sort=ascending] a::after { content: " ↑"; }
.results th[aria-sort=descending] a::after { content: " ↓"; }
.results td { vertical-align: middle; }
.results th:first-child, .results td:first-child { width: 2.5rem; padding-right: 0; }
.results td:nth-child(2) { width: 7rem; padding-block: .35rem; }
.results td:nth-child(3) { min-width: 14rem; }
.results td:nth-child(4) { min-width: 9rem; }
.results td:nth-child(n+5) { white-space: nowrap; font-variant-numeric: tabular-nums; }
.results input[type=checkbox] { display: block; width: 1.15rem; height: 1.15rem; margin: 0; accent-color: var(--accent); }
.results img, .picture { display: block; width: 6rem; height: 3.375rem; object-fit: cover; border: 1px solid var(--line); border-radius: .3rem; background: var(--ground); }
.results tr:has(:checked) { background: var(--ground); }
.selected { padding: .6rem 0; background: var(--ground); }
.selected select { width: auto; max-width: 14rem; padding-block: .2rem; height: auto; }
.start { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
.named { overflow-wrap: anywhere; }
.named a span { display: inline; color: inherit; }
.pages { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin-top: .6rem; }
.state.queued { --tone: var(--busy); }
.state.processed { --tone: var(--good); }
@media (min-width: 46.01rem) { .selected { position: sticky; bottom: 0; } }
@media (max-width: 46rem) {
  .results thead tr { display: flex; flex-wrap: wrap; align-items: center; gap: .2rem 1rem; padding: .4rem .8rem; }
  .results th { padding: .3rem 0; }
  .results th:nth-child(2), .results th:nth-child(6) { display: none; }
  .results tbody tr { display: grid; grid-template-columns: auto 6rem minmax(0, 1fr); gap: 0 .7rem; align-items: center; padding: .6rem .8rem; border-top: 1px solid var(--line); }
  .results tbody tr td:nth-child(n) { min-width: 0; width: auto; padding: 0; border: 0; grid-column: 3; white-space: normal; }
  .results tbody tr td:first-child { grid-column: 1; grid-row: 1 / span 5; }
  .results tbody tr td:nth-child(2) { grid-column: 2; grid-row: 1 / span 5; align-self: start; }
  .results td:nth-child(5)::after { content: " UTC"; }
}
`;
