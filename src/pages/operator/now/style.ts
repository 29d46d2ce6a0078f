import { ROWS_STYLE } from '../frame/style.ts';

/** How what runs, waits and has failed is laid out. */
export const NOW_STYLE = `${ROWS_STYLE}
.rows.halls li { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1.5fr) minmax(0, 1.5fr); }
.heading > * { min-width: 0; overflow-wrap: anywhere; }
.rows a, .recordings a, .faint a, section > p a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); }
.worker { font-size: .85rem; }
.failure { padding: .8rem 1rem 1rem; }
.failure + .failure { margin-top: .8rem; }
.failure .recordings { margin-top: .6rem; background: none; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .3rem 1.2rem; }
.heading > :first-child { flex: 1 1 20rem; }
.recordings .faint { display: block; font-size: .92rem; }
section h3 { margin: 1.2rem 0 .5rem; }
.failure h3 { margin: 0; }
section > p.faint { margin: .5rem 0 0; }
@media (max-width: 46rem) { .rows.halls li { grid-template-columns: minmax(0, 1fr); } }
`;
