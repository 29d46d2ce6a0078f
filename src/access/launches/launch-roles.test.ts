import { expect, test } from 'vitest';
import { contextRoleNames, contextRoles } from './launch-roles.ts';

test.each([
  ['Instructor', ['Instructor']],
  ['urn:lti:role:ims/lis/Learner', ['Learner']],
  ['http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor', ['Instructor']],
  ['http://purl.imsglobal.org/vocab/lis/v2/membership/Instructor#TeachingAssistant', ['TeachingAssistant']],
  ['http://purl.imsglobal.org/vocab/lis/v2/institution/person#Administrator', []],
  ['http://purl.imsglobal.org/vocab/lis/v2/system/person#Administrator', []],
  ['urn:lti:sysrole:ims/lis/Administrator', []],
  ['urn:lti:instrole:ims/lis/Instructor', []],
  ['ROLE_ADMIN', []],
])('the role %s is %j in the course', (role, names) => expect(contextRoleNames([role])).toEqual(names));

test.each([
  ['17', '', ['17_Learner', 'ROLE_17_Learner']],
  ['17', 'MOODLE_', ['MOODLE_17_Learner', 'ROLE_MOODLE_17_Learner']],
  [undefined, '', ['LTI_Learner', 'ROLE_LTI_Learner']],
  ['USER_ada', '', ['USER_ada_Learner']],
  ['group_x', '', ['group_x_Learner']],
  ['ROLE_USER', '', []],
  ['ROLE', '', []],
  ['LE', 'RO', []],
  ['USER', '', ['USER_Learner']],
  ['GROUP', '', ['GROUP_Learner']],
  ['API_EVENTS', '', ['API_EVENTS_Learner']],
  ['CAPTURE', '', ['CAPTURE_Learner']],
  ['role_admin', '', []],
  ['a b', '', []],
  ['a,b', '', []],
])('the course %s with the prefix "%s" grants %j', (context, prefix, roles) =>
  expect(contextRoles(context, ['Learner'], prefix)).toEqual(roles),
);
