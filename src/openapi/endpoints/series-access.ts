import { z } from 'zod';
import { Acl, StrictAcl } from '../../access/acl.schemas.ts';
import { jsonText } from '../../http/schemas.ts';
import { PropertiesEcho, PropertiesRequest, SeriesProperties } from '../../series/properties.schemas.ts';
import { AclEcho, Override } from '../../series/series.schemas.ts';
import type { Endpoint } from '../endpoint.ts';
import { ACL, SERIES_ID } from '../examples.ts';

const GONE = 'The resource you requested does not exist.';
const PROPERTIES = { theme: '3', live: 'false' };

/** Who may do what with a series, and its properties. */
export const SERIES_ACCESS: readonly Endpoint[] = [
  {
    method: 'get',
    path: '/api/series/{series_id}/acl',
    tag: 'Series access',
    summary: "Read a series' access control list",
    description: 'It also holds for those of its events that have no entries of their own.',
    answers: { 200: { description: 'The list.', body: Acl, example: ACL } },
    refusals: { 404: `Cannot find a series with id '${SERIES_ID}'.` },
  },
  {
    method: 'put',
    path: '/api/series/{series_id}/acl',
    tag: 'Series access',
    summary: "Replace a series' access control list",
    description: 'The list that was there is gone.',
    form: {
      encoding: 'any',
      schema: z.object({
        acl: jsonText(StrictAcl, 'The new list.'),
        override: Override,
      }),
      example: { acl: JSON.stringify(ACL) },
    },
    answers: { 200: { description: 'The list as it was sent.', body: AclEcho, example: ACL } },
    refusals: { 400: ["Missing form parameter 'acl'", 'Could not parse ACL'], 404: GONE },
  },
  {
    method: 'get',
    path: '/api/series/{series_id}/properties',
    tag: 'Series',
    summary: 'Read the properties of a series',
    description: 'Whatever clients have noted of it.',
    answers: { 200: { description: 'The properties.', body: SeriesProperties, example: PROPERTIES } },
    refusals: { 404: `Cannot find an series with id '${SERIES_ID}'.` },
  },
  {
    method: 'put',
    path: '/api/series/{series_id}/properties',
    tag: 'Series',
    summary: 'Set properties of a series',
    description: 'Others stay.',
    form: {
      encoding: 'any',
      schema: z.object({ properties: jsonText(PropertiesRequest, 'Text by name.') }),
      example: { properties: JSON.stringify(PROPERTIES) },
    },
    answers: {
      200: { description: 'The properties as they were sent.', body: PropertiesEcho, example: PROPERTIES },
    },
    refusals: { 400: ["Missing form parameter 'acl'", 'Could not parse series properties'], 404: GONE },
  },
];
