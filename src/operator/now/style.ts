/** How what runs, waits and has failed is laid out. */
export const NOW_STYLE = `
.rows, .recordings { border: 1px solid var(--line); border-radius: .6rem; background: var(--sheet); }
.rows li, .recordings li { margin: 0; padding: .55rem .9rem; }
.rows li + li, .recordings li + li { border-top: 1px solid var(--line); }
.rows li { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 1.6fr) minmax(0, 1.4fr) auto; gap: .2rem 1.2rem; align-items: center; }
.rows.halls li { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1.5fr) minmax(0, 1.5fr); }
.rows li > *, .heading > * { min-width: 0; overflow-wrap: anywhere; }
.rows a, .recordings a, .faint a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); }
.worker { font-size: .85rem; }
.failure { padding: .8rem 1rem 1rem; }
.failure + .failure { margin-top: .8rem; }
.failure .recordings { margin-top: .6rem; background: none; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.2rem; }
.heading > :first-child { flex: 1 1 20rem; }
.recordings .faint { display: block; font-size: .92rem; }
details summary { cursor: pointer; color: var(--faint); font-size: .92rem; }
.confirm { display: inline-block; }
.confirm form { margin-top: .3rem; }
section h3 { margin: 1.2rem 0 .5rem; }
.failure h3 { margin: 0; }
section > p.faint { margin: .5rem 0 0; }
@media (max-width: 46rem) { .rows li, .rows.halls li { grid-template-columns: minmax(0, 1fr); } }
`;
