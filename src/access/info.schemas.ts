import { z } from 'zod';
import { TextByName } from '#platform/http/endpoint/schemas.ts';

/** Who the caller is, or acts as. */
export const Me = z
  .object({
    provider: z.string().describe('Where the account comes from.'),
    name: z.string().describe('Name for people; may be empty.'),
    userrole: z.string().describe('The role that only this user has.'),
    email: z.string().describe('May be empty.'),
    username: z.string(),
  })
  .meta({ id: 'Me' });

/** All roles of the caller. */
export const Roles = z.array(z.string()).meta({ id: 'Roles' });

/** The organization that everything belongs to. */
export const Organization = z
  .object({ id: z.string(), name: z.string(), adminRole: z.string(), anonymousRole: z.string() })
  .meta({ id: 'Organization' });

/** Properties of the organization. */
export const OrganizationProperties = TextByName.meta({ id: 'OrganizationProperties' });
