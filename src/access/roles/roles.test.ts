import { expect, test } from 'vitest';
import { accountRoles, userRole } from './roles.ts';

test.each([
  ['ada', 'ROLE_USER_ADA'],
  ['a.Lovelace@x-y', 'ROLE_USER_A_LOVELACE_X_Y'],
  ['müller', 'ROLE_USER_M_LLER'],
])('%s has the role %s of its own', (username, role) => {
  expect(userRole(username)).toBe(role);
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
