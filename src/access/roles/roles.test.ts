import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountRoles, userRole } from './roles.ts';

test.each([
  ['ada', 'ROLE_USER_ADA'],
  ['Ada_L2', 'ROLE_USER_ADA_L2'],
  ['müller', 'ROLE_USER_m~FC~ller'],
  ['möller', 'ROLE_USER_m~F6~ller'],
  ['Jane.Doe@x-y', 'ROLE_USER_Jane~2E~Doe~40~x~2D~y'],
  ['jane.doe@x-y', 'ROLE_USER_jane~2E~doe~40~x~2D~y'],
  ['m~FC~ller', 'ROLE_USER_m~7E~FC~7E~ller'],
  ['😀', 'ROLE_USER_~1F600~'],
])('%s has the role %s of its own', (username, role) => {
  expect(userRole(username)).toBe(role);
});

test('no two names have the same role, but for plain ones that differ in case alone', () => {
  const piece = fc.constantFrom('a', 'A', 'FC', '2E', '_', '~', '.', 'ü', 'u\u0308', ' ', '😀', '李');
  const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
  const any = fc.oneof(name, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 }));
  const meant = (username: string) => (/^\w+$/.test(username) ? username.toUpperCase() : username);
  fc.assert(
    fc.property(
      any,
      any,
      (one, other) => (userRole(one) === userRole(other)) === (meant(one) === meant(other)),
    ),
    { numRuns: 2000 },
  );
});

test('the role of the longest name fits into an access control list, and is nobody else’s', () => {
  const long = '李'.repeat(128);
  const roles = [long, `${long.slice(1)}明`, `明${long.slice(1)}`].map(userRole);
  expect(new Set(roles).size).toBe(3);
  for (const role of roles) expect(role).toMatch(/^ROLE_USER_(~\w+~)+\w*~?\w*\.[0-9a-f]{64}$/);
  expect(roles.map(({ length }) => length)).toEqual([255, 255, 255]);
});

test('every account has the roles of users and of the public beside the granted ones', () => {
  expect([...accountRoles('ada', ['ROLE_X'])]).toEqual([
    'ROLE_X',
    'ROLE_USER',
    'ROLE_USER_ADA',
    'ROLE_ANONYMOUS',
  ]);
});

test.each(['ROLE_ADMIN', 'ROLE_GROUP_MH_DEFAULT_ORG_EXTERNAL_APPLICATIONS'])(
  '%s brings the whole API and acting for others, and no more rights than that',
  (granted) => {
    const roles = accountRoles('service', [granted]);
    for (const role of ['ROLE_SUDO', 'ROLE_API', 'ROLE_API_EVENTS_CREATE', 'ROLE_API_STATISTICS_VIEW']) {
      expect(roles).toContain(role);
    }
    expect(roles.has('ROLE_ADMIN')).toBe(granted === 'ROLE_ADMIN');
  },
);
