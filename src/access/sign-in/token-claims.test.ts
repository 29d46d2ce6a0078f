import { expect, test } from 'vitest';
import { grantedRoles, tokenPrincipal } from './token-claims.ts';

const roles = (payload: Record<string, unknown>, name: string) => {
  const principal = tokenPrincipal({ sub: 'ada', ...payload }, { username: 'sub', roles: name });
  return [...(principal?.roles ?? [])].filter((role) => !/^ROLE_(USER|ANONYMOUS)/.test(role));
};

test.each<[unknown, string[]]>([
  [
    ['ROLE_A', 'ROLE_B', 'ROLE_A'],
    ['ROLE_A', 'ROLE_B'],
  ],
  ['ROLE_A ROLE_B, ROLE_C,,', ['ROLE_A', 'ROLE_B', 'ROLE_C']],
  ['', []],
  [[], []],
  [undefined, []],
  [null, []],
  [7, []],
  [true, []],
  [{ ROLE_ADMIN: true, 0: 'ROLE_ADMIN', length: 1 }, []],
  [[['ROLE_ADMIN'], { toString: 'ROLE_ADMIN' }, 1, null, 'ROLE_A'], ['ROLE_A']],
  [['a\0b', 'a b', 'a,ROLE_ADMIN', 'a\ud800', ''], []],
])('the claim %j grants %j', (value, granted) => {
  expect(grantedRoles(value)).toEqual(granted);
});

test('a claim may be nested, and its name may hold dots', () => {
  const nested = { realm_access: { roles: ['ROLE_A'] } };
  expect(roles(nested, 'realm_access.roles')).toEqual(['ROLE_A']);
  expect(roles({ 'https://id.example/roles': 'ROLE_B' }, 'https://id.example/roles')).toEqual(['ROLE_B']);
  for (const name of [
    'realm_access',
    'realm_access.roles.0',
    'realm_access.constructor.name',
    'constructor',
  ]) {
    expect([name, roles(nested, name)]).toEqual([name, []]);
  }
});

test('only a claim that says so makes an administrator', () => {
  const names = { username: 'sub', roles: 'roles' };
  expect(tokenPrincipal({ sub: 'admin', groups: ['ROLE_ADMIN'] }, names)?.isAdmin()).toBe(false);
  const admin = tokenPrincipal({ sub: 'ada', roles: 'ROLE_ADMIN' }, names);
  expect([admin?.isAdmin(), admin?.hasRole('ROLE_API_EVENTS_CREATE')]).toEqual([true, true]);
});

test('texts that cannot be stored are left out', () => {
  const payload = { sub: 'ada', name: 'A\0', email: ['a@example.org'] };
  expect(tokenPrincipal(payload, { username: 'sub', roles: 'roles' })).toMatchObject({ name: '', email: '' });
});
