import { expect, test } from 'vitest';
import { AgentName } from './agent.schemas.ts';

test.each(['', '.', '..'])('%j is no name: on its way in an address it would be lost', (name) => {
  expect(AgentName.safeParse(name).success).toBe(false);
});

test.each(['...', '. .', '.a', 'a/..'])('%j is a name', (name) => {
  expect(AgentName.safeParse(name).success).toBe(true);
});
