import { groupRole, ORGANIZATION, withIncludedRoles } from '../roles/roles.ts';
import type { GroupJson } from './group.schemas.ts';
import type { GroupRow } from './groups.queries.ts';

/** Returns the JSON of a group. */
export function groupJson({ id, name, description, roles, members }: GroupRow): GroupJson {
  const [role = '', ...granted] = withIncludedRoles([groupRole(id), ...roles]);
  return {
    identifier: id,
    organization: ORGANIZATION.id,
    role,
    name,
    description,
    roles: [...new Set(granted)].join(','),
    members: members.join(','),
  };
}
