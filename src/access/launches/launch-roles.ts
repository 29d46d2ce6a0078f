/** The course of launches without one, as in the reference. */
const NO_CONTEXT = 'LTI';
/** Roles in a course, without their vocabulary: LTI 1.1 has short names and URNs, LTI 1.3 has URLs. */
const CONTEXT_ROLE =
  /^(?:urn:lti:role:ims\/lis\/|http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:#|\/[A-Za-z]+#))?([A-Za-z]{1,64})$/;
/** Roles that begin like this belong to this server: to users, groups, its API and capture agents. */
const RESERVED = /^(USER|GROUP|API|CAPTURE)_/i;
/** More than people have in a course. */
const MOST_ROLES = 20;
const CONTEXT = /^[^\s,\p{Cc}]{1,128}$/u;

/** Returns the names of roles in a course: `Instructor`, `Learner`. Roles in the platform or an institution do not count. */
export function contextRoleNames(roles: readonly string[]): string[] {
  const names = new Set(roles.flatMap((role) => CONTEXT_ROLE.exec(role.trim())?.[1] ?? []));
  return [...names].slice(0, MOST_ROLES);
}

/** Returns true for people who teach a course. */
export function isInstructor(names: readonly string[]): boolean {
  return names.includes('Instructor') || names.includes('ContentDeveloper');
}

/**
 * Returns the roles of a course: `17_Learner`, as the reference has them, and `ROLE_17_Learner`. A course with the name of
 * another kind of role has none, so that no platform grants the role of a user, a group, an endpoint or an administrator.
 *
 * @param context the course; undefined outside of courses
 * @param names as `contextRoleNames` returns them
 */
export function contextRoles(context: string | undefined, names: readonly string[], prefix: string): string[] {
  const course = prefix + (context?.trim() || NO_CONTEXT);
  if (!CONTEXT.test(course) || !course.isWellFormed()) return [];
  // The whole role counts: the course `ROLE` and the name `ADMIN` are `ROLE_ADMIN`.
  const roles = names.map((name) => `${course}_${name}`).filter((role) => !/^ROLE_/i.test(role));
  return roles.flatMap((role) => (RESERVED.test(role) ? [role] : [role, `ROLE_${role}`]));
}
