import { expect, test } from 'vitest';
import { HttpError } from '../http/errors.ts';
import { parseAcl } from './acl.ts';

test('every entry allows, whatever it says', () => {
  const text = JSON.stringify([
    { role: 'ROLE_A', action: 'read' },
    { role: 'ROLE_A', action: 'write', allow: false },
    { role: 'ROLE_B', action: 'annotate', allow: true, comment: 'ignored' },
  ]);
  expect(parseAcl(text)).toEqual([
    { allow: true, action: 'read', role: 'ROLE_A' },
    { allow: true, action: 'write', role: 'ROLE_A' },
    { allow: true, action: 'annotate', role: 'ROLE_B' },
  ]);
  expect(parseAcl('[]')).toEqual([]);
});

test('an entry that is repeated counts once', () => {
  const entry = { role: 'ROLE_A', action: 'read' };
  expect(parseAcl(JSON.stringify([entry, { ...entry, allow: false }]))).toHaveLength(1);
});

test.each([
  '',
  '{',
  '{}',
  'null',
  '"read"',
  '[null]',
  '["read"]',
  '[{"role":"ROLE_A"}]',
  '[{"action":"read"}]',
  '[{"role":"","action":"read"}]',
  '[{"role":" ","action":"read"}]',
  '[{"role":7,"action":"read"}]',
  '[{"role":"ROLE\\u0000","action":"read"}]',
  '[{"role":"\\ud800","action":"read"}]',
  JSON.stringify([{ role: 'R'.repeat(256), action: 'read' }]),
])('%s cannot be read', (text) => {
  expect(() => parseAcl(text)).toThrow(new HttpError(400, 'Unable to parse acl'));
});
