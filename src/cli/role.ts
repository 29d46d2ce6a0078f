/** What a process can be: API, relay and workers in one, or one of the two halves. */
export type Role = 'main' | 'api' | 'worker';
/** What runs it. */
export type Runtime = 'deno' | 'node';

/** The modules that are run, from the project's folder. */
export const ENTRIES: Record<Role, string> = {
  main: 'src/main.ts',
  api: 'src/api.ts',
  worker: 'workers/main.ts',
};

export const answersRequests = (role: Role) => role !== 'worker';
export const runsTools = (role: Role) => role !== 'api';
