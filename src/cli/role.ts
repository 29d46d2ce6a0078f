/** The role of a process: API, relay and workers, or only a part of these. */
export type Role = 'main' | 'api' | 'worker';

export type Runtime = 'deno' | 'node';

export const isRuntime = (name: string): name is Runtime => name === 'deno' || name === 'node';

export const ENTRIES: Record<Role, string> = {
  main: 'src/main.ts',
  api: 'src/api.ts',
  worker: 'workers/main.ts',
};

export const answersRequests = (role: Role) => role !== 'worker';
export const runsTools = (role: Role) => role !== 'api';
