import { expect, test } from 'vitest';
import { lastComplaint } from './programs.ts';

test('the sentence after FATAL is the reason, not the lines around it', () => {
  const log = `2026-01-01 00:00:00.000 UTC [7] LOG:  starting PostgreSQL
2026-01-01 00:00:00.001 UTC [7] FATAL:  data directory "/x" has invalid permissions
2026-01-01 00:00:00.001 UTC [7] DETAIL:  Permissions should be u=rwx (0700).
`;
  expect(lastComplaint(log)).toBe('data directory "/x" has invalid permissions');
});

test('a message of initdb loses the name of the program', () => {
  expect(lastComplaint('initdb: error: could not create directory "x": No space left on device\n')).toBe(
    'could not create directory "x": No space left on device',
  );
});

test('a program that said nothing has no reason', () => {
  expect(lastComplaint('\n')).toBe('it said nothing');
});
