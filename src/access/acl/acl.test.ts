import { expect, test } from 'vitest';
import { HttpError } from '../../http/errors.ts';
import { parseAcl, parseStrictAcl } from './acl.ts';

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

test.each([
  ['an object', '{"a":1}', 'an object'],
  ['a list', '[]', 'a list'],
  ['more levels than can be written out', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'a list'],
  ['half a surrogate pair', '"\\ud800"', '\ufffd'],
])('a role that is %s is refused, and told of', (_name, role, told) => {
  expect(() => parseStrictAcl(`[{"allow":true,"action":"read","role":${role}}]`)).toThrow(
    new HttpError(
      400,
      `One of the access control elements is missing a property. The action was 'read', allow was 'true' and the role was '${told}'`,
    ),
  );
});
