import { sql } from 'kysely';
import { accessCondition } from '#access/acl/acl.queries.ts';
import type { Principal } from '#access/principal.ts';
import { ORGANIZATION } from '#access/roles/roles.ts';
import { type EventRow, findEvent, metadataOfEvents } from '#catalogue/events/event-json.ts';
import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import { SERIES_LIST } from '#catalogue/series/series-list.ts';
import { catalogsOf } from '#catalogue/series/series-metadata.ts';
import { findSeries, type SeriesRow } from '#catalogue/series/series-queries.ts';
import { catalogJson } from '#metadata/catalog-json.ts';
import type { Catalogs } from '#metadata/catalogs.ts';
import type { CatalogJson } from '#metadata/metadata.schemas.ts';
import type { Database } from '#platform/database/kysely.ts';
import { type Condition, findPart, hasValue } from '#platform/database/list/index.ts';
import type { ApiVersion } from '#platform/http/answer/version.ts';
import { refusal } from '#platform/http/errors/errors.ts';
import { type ListedResource, listingOf } from '#platform/http/list/index.ts';
import { csvLine } from './csv.ts';
import type { ParsedQuery } from './statistics-query.ts';
import { periodsOf, type ResourceType, viewsOf } from './time-series.queries.ts';

const MAX_RESOURCES = 1000;
const MAX_CHARACTERS = 32 * 2 ** 20;
/** Resources whose views are read together. */
const BATCH = 100;

export const EXPORT_TOO_LARGE = refusal(
  400,
  `An export may have ${MAX_RESOURCES} resources and ${MAX_CHARACTERS} characters; choose a shorter period, a coarser 'dataResolution' or a smaller 'limit'.`,
);

export interface ExportRequest {
  query: ParsedQuery;
  principal: Principal;
  version: ApiVersion;
  catalogs: Catalogs;
  /** For events of a series, and events or series of the organization. */
  page: { filter: string; limit: number | undefined; offset: number };
}

/** A resource with its metadata. */
interface Exported {
  id: string;
  /** Values by column. */
  metadata: readonly (readonly [name: string, value: string])[];
}

/**
 * Returns views as CSV: one line per resource and period, with all metadata of the resource. The first page has a header. A
 * page of another offset has none; for a single resource, it is empty.
 *
 * @throws {HttpError} 400 for an unreadable filter or an export that is too large
 */
export async function exportViews(database: Database, request: ExportRequest): Promise<string> {
  const { query, principal, page } = request;
  const { type, resources } = await resourcesOf(database, request);
  if (resources.length > MAX_RESOURCES) throw EXPORT_TOO_LARGE();
  const periods = await periodsOf(database, query.range);
  const columns = resources[0]?.metadata.map(([name]) => name) ?? [];
  const lines = page.offset === 0 && resources.length > 0 ? [csvLine(['ID', ...columns, 'Date', 'Value'])] : [];
  let characters = 0;
  for (let i = 0; i < resources.length; i += BATCH) {
    const batch = resources.slice(i, i + BATCH);
    const views = await viewsOf(database, { type, ids: batch.map(({ id }) => id) }, query.range, principal);
    for (const { id, metadata } of batch) {
      const values = metadata.map(([, value]) => value);
      for (const period of periods) {
        const line = csvLine([id, ...values, period.name, views(id, period)]);
        characters += line.length;
        if (characters > MAX_CHARACTERS) throw EXPORT_TOO_LARGE();
        lines.push(line);
      }
    }
  }
  return lines.join('');
}

async function resourcesOf(
  database: Database,
  { query, principal, version, catalogs, page }: ExportRequest,
): Promise<{ type: ResourceType; resources: Exported[] }> {
  const { resourceId, detailLevel, provider } = query;
  const ofEvents = (events: readonly EventRow[]) => exportedEvents(database, events, catalogs);
  const ofSeries = (series: readonly SeriesRow[]) => exportedSeries(database, series, catalogs);
  const list = async <Row>(resource: ListedResource<Row>, table: 'events' | 'series', scope: Condition[] = []) => {
    const access = accessCondition(table, principal, 'read');
    const { groups, ...listing } = listingOf(resource, { filters: [page.filter], access }, version);
    const all = [...groups.flat(), ...scope];
    const take = Math.min(page.limit ?? MAX_RESOURCES + 1, MAX_RESOURCES + 1);
    const { entries } = await findPart(database, { ...listing, groups: [all] }, { skip: page.offset, take });
    return entries.map(({ shown }) => shown);
  };
  if (provider.resourceType !== 'episode' && detailLevel === 'episode') {
    const scope = provider.resourceType === 'series' ? [hasValue(sql.ref('events.series_id'), resourceId)] : [];
    return { type: 'episode', resources: await ofEvents(await list(EVENT_LIST, 'events', scope)) };
  }
  if (provider.resourceType === 'organization' && detailLevel === 'series') {
    return { type: 'series', resources: await ofSeries(await list(SERIES_LIST, 'series')) };
  }
  const type = provider.resourceType;
  if (page.offset > 0) return { type, resources: [] };
  if (type === 'organization') {
    return { type, resources: [{ id: resourceId, metadata: [['Name', ORGANIZATION.name]] }] };
  }
  const found =
    type === 'episode'
      ? ofEvents([await findEvent(database, resourceId, principal)].filter((event) => event !== undefined))
      : ofSeries([await findSeries(database, resourceId, principal)].filter((series) => series !== undefined));
  return { type, resources: await found };
}

async function exportedEvents(database: Database, events: readonly EventRow[], { event: set }: Catalogs) {
  const metadata = await metadataOfEvents(database, events, set, 'metadata');
  return events.map(({ id }) => ({ id, metadata: valuesOf(metadata.get(id) ?? []) }));
}

async function exportedSeries(database: Database, all: readonly SeriesRow[], { series: set }: Catalogs) {
  const exported: Exported[] = [];
  for (const series of all) {
    const filled = await catalogsOf(database, series, set);
    exported.push({ id: series.id, metadata: valuesOf(filled.map(([each, values]) => catalogJson(each, values))) });
  }
  return exported;
}

/** Returns the values of catalogs, those of the default catalog first. */
function valuesOf(catalogs: readonly CatalogJson[]): Exported['metadata'] {
  const defaultFirst = [...catalogs.slice(-1), ...catalogs.slice(0, -1)];
  return defaultFirst.flatMap(({ fields }) => fields.map(({ id, value }) => [id, [value].flat().join(', ')] as const));
}
