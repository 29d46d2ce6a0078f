import { Me, Organization, OrganizationProperties, Roles } from '../../access/info.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { BASE_URL } from '../examples.ts';

const ENGAGE = { 'org.opencastproject.engage.ui.url': BASE_URL };

/** Who the caller is and what it belongs to. */
export const INFO: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/info/me',
    tag: 'Info',
    summary: 'The user of this request',
    description: 'The account that signed in, or the user it acts as.',
    answers: {
      200: {
        description: 'The user.',
        plain: true,
        body: Me,
        example: {
          provider: 'inlet',
          name: 'Video Team',
          userrole: 'ROLE_USER_VIDEO_TEAM',
          email: 'video@example.org',
          username: 'video-team',
        },
      },
    },
  },
  {
    method: 'get',
    path: '/api/info/me/roles',
    tag: 'Info',
    summary: 'The roles of the user',
    description: 'All roles that this request is answered with.',
    answers: {
      200: {
        description: 'The roles.',
        plain: true,
        body: Roles,
        example: ['ROLE_USER', 'ROLE_USER_VIDEO_TEAM', 'ROLE_API', 'ROLE_API_EVENTS_VIEW'],
      },
    },
  },
  {
    method: 'get',
    path: '/api/info/organization',
    tag: 'Info',
    summary: 'The organization',
    description: 'There is one; everything belongs to it.',
    answers: {
      200: {
        description: 'The organization.',
        plain: true,
        body: Organization,
        example: {
          adminRole: 'ROLE_ADMIN',
          anonymousRole: 'ROLE_ANONYMOUS',
          id: 'mh_default_org',
          name: 'Opencast Project',
        },
      },
    },
  },
  {
    method: 'get',
    path: '/api/info/organization/properties',
    tag: 'Info',
    summary: 'The properties of the organization',
    description: 'For administrators.',
    answers: {
      200: { description: 'The properties.', plain: true, body: OrganizationProperties, example: ENGAGE },
    },
  },
  {
    method: 'get',
    path: '/api/info/organization/properties/engageuiurl',
    tag: 'Info',
    summary: 'Where recordings are watched',
    description: 'Needs the role `ROLE_UI_EVENTS_EMBEDDING_CODE_VIEW`.',
    answers: {
      200: { description: 'The address.', plain: true, body: OrganizationProperties, example: ENGAGE },
    },
  },
];
