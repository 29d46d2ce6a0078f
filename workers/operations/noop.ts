import type { Operation } from './operation.ts';

/** Does nothing: for measuring the machinery around operations, and for trying out a workflow definition. */
export const noop: Operation = {
  name: 'noop',
  lane: 'light',
  run: async () => async () => undefined,
};
