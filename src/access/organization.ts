import { ROLE_ADMIN, ROLE_ANONYMOUS } from './roles/roles.ts';

/** The one organization there is, as clients expect to find it. */
export const ORGANIZATION = {
  adminRole: ROLE_ADMIN,
  anonymousRole: ROLE_ANONYMOUS,
  id: 'mh_default_org',
  name: 'Opencast Project',
} as const;
