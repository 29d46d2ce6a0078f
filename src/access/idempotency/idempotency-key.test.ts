import type { Context } from 'hono';
import { describe, expect, test } from 'vitest';
import { Principal } from '../principal.ts';
import { fingerprint, parseKey, sender } from './idempotency.ts';

test.each([
  ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
  ['"8e03978e"', '8e03978e'],
  ['  plain:key/1+2=  ', 'plain:key/1+2='],
  ['"with blank, comma; \\"mark\\" and \\\\"', 'with blank, comma; "mark" and \\'],
  ['x'.repeat(255), 'x'.repeat(255)],
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
])('%j is the key %j', (header, key) => {
  expect(parseKey(header)).toBe(key);
});

test.each([
  ...['', '  ', '""', 'a b', 'one, two', '"one", "two"', '"open', 'mark"', '"back\\slash"'],
  ...['"key";parameter=1', 'tab\tinside', '"tab\tinside"', 'nul\0', 'caf\u00e9', '"caf\u00e9"'],
  ...['x'.repeat(256), `"${'x'.repeat(256)}"`],
])('%j is no key', (header) => {
  expect(() => parseKey(header)).toThrow(expect.objectContaining({ status: 400 }));
  expect(() => parseKey(header)).toThrow(/^The header Idempotency-Key must be .*\.$/);
});

describe('a request', () => {
  const clip = { name: 'presenter', filename: 'a.mp4', size: 5, sha256: 'abc' };
  const of = (
    { path = '/things', method = 'POST' } = {},
    fields: Record<string, string> = { x: '1', y: '2' },
    files = [clip],
  ) =>
    fingerprint({ req: { path, method } } as unknown as Context, {
      fields: new Map(Object.entries(fields)),
      files,
    });

  test('is the same with its fields in another order, and with a slash behind its path', () => {
    expect(of({ path: '/things/' }, { y: '2', x: '1' })).toBe(of());
  });

  test.each([
    ['path', of({ path: '/others' })],
    ['method', of({ method: 'PUT' })],
    ['field less', of({}, { x: '1' })],
    ['size of its file', of({}, undefined, [{ ...clip, size: 6 }])],
    ['file more', of({}, undefined, [clip, clip])],
  ])('is another one with another %s', (_what, other) => {
    expect(other).not.toBe(of());
  });
});

test('a sender is an account of its provider, and the roles that it acts with are in no order', () => {
  const who = (username: string, provider = 'inlet', ...roles: string[]) =>
    new Principal({ username, name: '', email: '', provider, roles: new Set(roles) });
  const of = (signedIn: Principal, principal = signedIn) =>
    sender({ var: { account: signedIn.username, signedIn, principal } } as unknown as Context);
  const ada = who('ada');
  expect(of(who('ada', 'jwt'))).not.toBe(of(ada));
  expect(of(ada, who('eve', 'inlet', 'A', 'B'))).toBe(of(ada, who('eve', 'inlet', 'B', 'A')));
});
