/** How the story of a recording is laid out. */
export const RECORDING_STYLE = `
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .6rem 1.4rem; margin: 1rem 0; }
.facts dt { color: var(--faint); font-size: .85rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: .9em; overflow-wrap: anywhere; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.2rem; }
.sheet + .sheet { margin-top: .8rem; }
.sheet > p { margin: .3rem 0; }
.bars { list-style: none; margin: .6rem 0 0; padding: 0; }
.bars > li { display: grid; grid-template-columns: minmax(0, 1.4fr) minmax(0, 1fr) minmax(0, 2fr); gap: .1rem 1rem; align-items: center; margin: 0; padding: .35rem 0; border-top: 1px solid var(--line); }
.bars p, .bars details { grid-column: 1 / -1; margin: .1rem 0; font-size: .92rem; overflow-wrap: anywhere; }
.bars svg { width: 100%; height: .9rem; }
.bars rect { fill: var(--faint); }
.bars .ground { fill: var(--ground); }
.bars .succeeded { fill: var(--good); }
.bars .running { fill: var(--busy); }
.bars .failed, .bars .lost { fill: var(--alarm); }
.bars .retried, .bars .deferred { fill: var(--held); }
.attempts { margin: .3rem 0; padding-left: 1.2rem; list-style: disc; }
.attempts li, .plain li { margin: .1rem 0; }
.story { list-style: none; margin: 0; padding: 0; border-left: 2px solid var(--line); }
.story li { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: .2rem 1rem; margin: 0; padding: .25rem 0 .25rem 1rem; overflow-wrap: anywhere; }
.story time { color: var(--faint); }
.story .good > span { color: var(--good); }
.story .alarm { color: inherit; }
.story .alarm > span { color: var(--alarm); }
.pictures { display: flex; flex-wrap: wrap; gap: .8rem; }
.pictures figure { margin: .6rem 0 0; }
.pictures img { display: block; max-width: min(20rem, 100%); max-height: 11rem; border-radius: .4rem; border: 1px solid var(--line); }
.actions select { padding: .35rem .5rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--sheet); color: inherit; font: inherit; max-width: 100%; }
.actions button { margin: 0; padding: .35rem .8rem; font-size: .92rem; }
.results a { display: inline; padding: 0; border: 0; background: none; }
@media (max-width: 46rem) { .bars > li, .story li { grid-template-columns: minmax(0, 1fr); } }
`;
