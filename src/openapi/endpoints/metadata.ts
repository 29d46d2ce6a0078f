import { z } from 'zod';
import { jsonText } from '../../http/schemas.ts';
import { CatalogJson, CatalogType, FieldJson, FieldsRequest } from '../../metadata/schemas.ts';
import type { Answer, Endpoint } from '../endpoint.ts';
import { EVENT_CATALOGS, EVENT_ID, SERIES_CATALOGS, SERIES_ID, sent } from '../examples.ts';

const NO_FLAVOR = "Unable to parse type 'text' as a flavor so unable to find the matching catalog.";

interface Resource {
  name: 'event' | 'series';
  path: string;
  id: string;
  /** Flavor of the default catalog. */
  flavor: string;
  catalogs: readonly { fields: readonly { id: string; value: unknown }[] }[];
  /** What a change answers. */
  changed: Readonly<Record<number, Answer>>;
}

/** The metadata of an event, catalog by catalog. */
export const EVENT_METADATA = metadataEndpoints({
  name: 'event',
  path: '/api/events/{event_id}/metadata',
  id: EVENT_ID,
  flavor: 'dublincore/episode',
  catalogs: EVENT_CATALOGS,
  changed: { 204: { description: 'They have been changed.' } },
});

/** The metadata of a series, catalog by catalog. */
export const SERIES_METADATA = metadataEndpoints({
  name: 'series',
  path: '/api/series/{series_id}/metadata',
  id: SERIES_ID,
  flavor: 'dublincore/series',
  catalogs: SERIES_CATALOGS,
  changed: {
    200: {
      description: 'All catalogs as they are now.',
      body: z.array(CatalogJson),
      example: SERIES_CATALOGS,
    },
  },
});

function metadataEndpoints({ name, path, id, flavor, catalogs, changed }: Resource): readonly Endpoint[] {
  const tag = name === 'event' ? 'Event metadata' : 'Series metadata';
  const one = name === 'event' ? 'an event' : 'a series';
  const missing = `Cannot find ${one} with id '${id}'.`;
  const noCatalog = `Cannot find a catalog with type 'some/flavor' for ${name} with id '${id}'.`;
  const type = CatalogType.meta({ description: 'Flavor of the catalog.', example: flavor });
  const values = JSON.stringify(sent(catalogs[0]?.fields ?? []).slice(0, 2));
  return [
    {
      method: 'get',
      path,
      tag,
      summary: `Read the metadata of ${one}`,
      description: 'All catalogs, the default one last; with `type` the fields of that catalog.',
      query: z.object({ type: CatalogType.optional().meta({ description: 'Flavor of a catalog.' }) }),
      answers: {
        200: {
          description: 'The catalogs, or the fields of the one asked for.',
          body: z.union([z.array(CatalogJson), z.array(FieldJson)]),
          example: catalogs,
        },
      },
      refusals: { 400: NO_FLAVOR, 404: [missing, noCatalog] },
    },
    {
      method: 'put',
      path,
      tag,
      summary: `Change fields of a catalog of ${one}`,
      description: 'Fields that are not listed stay; those that can only be read are ignored.',
      query: z.object({ type }),
      form: {
        encoding: 'any',
        schema: z.object({ metadata: jsonText(FieldsRequest, 'The fields to be changed.') }),
        example: { metadata: values },
      },
      answers: changed,
      refusals: {
        400: [
          "Unable to parse metadata fields as json from '[]' because there were no fields to update.",
          `The ${name} metadata field with id 'title' and the metadata type '${flavor}' is required and can not be empty!.`,
          NO_FLAVOR,
        ],
        404: [
          missing,
          noCatalog,
          `Cannot find a metadata field with id 'colour' from event with id '${id}' and the metadata type '${flavor}'.`,
        ],
      },
    },
    {
      method: 'delete',
      path,
      tag,
      summary: `Delete a catalog of ${one}`,
      description: 'With all its values. The default catalog stays.',
      query: z.object({
        type: type.meta({ ...type.meta(), example: flavor.replace('dublincore', 'license') }),
      }),
      answers: { 204: { description: 'It is gone.' } },
      refusals: {
        400: NO_FLAVOR,
        403: `Unable to delete mandatory metadata catalog with type '${flavor}' for ${name} '${id}'`,
        404: [missing, noCatalog],
      },
    },
  ];
}
