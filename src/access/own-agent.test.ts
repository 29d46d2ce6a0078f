import { expect, test } from 'vitest';
import { boundAgent, requireOwnAgent } from './own-agent.ts';
import { Principal } from './principal.ts';

const somebody = (agentId?: string) =>
  new Principal({ username: 'hall', name: '', email: '', provider: 'inlet', roles: new Set(), agentId });

test('an account that is for one agent speaks for no other, whatever its roles', () => {
  for (const bound of [somebody('Hall/1'), somebody('Hall/1').withRoles(['ROLE_ADMIN'])]) {
    expect(boundAgent(bound)).toBe('Hall/1');
    expect(() => requireOwnAgent(bound, 'Hall/1')).not.toThrow();
    for (const other of ['hall/1', 'Hall/1 ', 'Hall', '']) {
      expect(() => requireOwnAgent(bound, other)).toThrow(
        "This account is for the capture agent 'Hall/1' alone.",
      );
    }
  }
});

test('other accounts speak for any agent that their roles let them', () => {
  expect(boundAgent(somebody())).toBeUndefined();
  expect(() => requireOwnAgent(somebody(), 'Hall/1')).not.toThrow();
});
