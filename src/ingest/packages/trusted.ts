import type { Principal } from '../../access/principal.ts';
import { ROLE_ADMIN } from '../../access/roles/roles.ts';

/**
 * The account with all rights: agents are in no access control list, and bring what they were asked to record. What the
 * account itself may do has been asked before.
 */
export function trusted(principal: Principal): Principal {
  return principal.withRoles([...principal.roles, ROLE_ADMIN]);
}
