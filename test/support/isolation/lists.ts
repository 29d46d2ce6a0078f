import { EVENT_LIST } from '#catalogue/events/event-list.ts';
import { SERIES_LIST } from '#catalogue/series/series-list.ts';
import type { ListedResource } from '#platform/http/list/index.ts';
import { WORKFLOW_LIST } from '#processing/workflow-list.endpoint.ts';
import { AGENT, type Target } from './target.ts';

const DIRECTIONS = ['ASC', 'DESC'];
const EVENT_EXTRAS =
  'withacl=true&withmetadata=true&withpublications=true&withscheduling=true&includeInternalPublication=true&sign=true';

/** Every filter of events, with the value that the target's event has. */
export function eventFilters({ event, series, start, eventWords, seriesWords }: Target): [string, string][] {
  const period = `${start.slice(0, 10)}T00:00:00Z/${start.slice(0, 10)}T23:59:59Z`;
  const values: Record<string, string> = {
    ...eventWords,
    identifier: event,
    series,
    is_part_of: series,
    series_name: seriesWords.title,
    created: start.replace('.000Z', 'Z'),
    status: 'EVENTS.EVENTS.STATUS.PROCESSING',
    agent_id: AGENT,
    start: period,
    technical_start: period,
  };
  const { remarks, ...named } = values;
  const texts = [...Object.values(eventWords), ...Object.values(seriesWords), event, series];
  return [...Object.entries(named), ...texts.map((text): [string, string] => ['textFilter', text])];
}

/** Every filter of series, with the value that the target's series has. */
export function seriesFilters({ series, account, start, seriesWords }: Target): [string, string][] {
  const { remarks, ...named } = seriesWords;
  const period = `2026-01-01T00:00:00Z/${start.slice(0, 10)}T23:59:59Z`;
  const texts = [...Object.values(seriesWords), series];
  return [
    ...Object.entries(named),
    ...Object.entries({ identifier: series, creator: account, Creator: account, CreationDate: period }),
    ...Object.entries({ desription: named.description, creationDate: period, managedAcl: named.title }),
    ...texts.map((text): [string, string] => ['textFilter', text]),
  ];
}

/** Every filter of workflows, with the value that the target's workflow has. */
export function workflowFilters({ event }: Target): [string, string][] {
  return Object.entries({ event, state: 'running', definition: 'schedule-and-upload' });
}

/** Filters that a list knows and these do not. */
export function forgottenFilters(target: Target): string[] {
  const missing = ({ filters }: ListedResource, known: [string, string][]) =>
    Object.keys(filters).filter((name) => !known.some(([each]) => each === name));
  const events = missing(EVENT_LIST, eventFilters(target));
  const series = missing(SERIES_LIST, seriesFilters(target));
  return [...events, ...series, ...missing(WORKFLOW_LIST, workflowFilters(target))];
}

/** Addresses of the lists with every filter, sort and page there is. */
export function listPaths(
  target: Target,
): Record<'events' | 'series' | 'workflows' | 'playlists' | 'search', string[]> {
  return {
    events: pathsOf('/api/events', eventFilters(target), EVENT_LIST, EVENT_EXTRAS),
    series: pathsOf('/api/series', seriesFilters(target), SERIES_LIST, 'withacl=true'),
    workflows: pathsOf('/api/workflows', workflowFilters(target), WORKFLOW_LIST, 'withoperations=true'),
    playlists: ['', '?limit=1', '?limit=1&offset=1', '?offset=2', '?sort=updated:DESC&limit=2'].map(
      (page) => `/api/playlists${page}`,
    ),
    search: searchPaths(target),
  };
}

/** Addresses of `series.json`, which knows the filters under other names. */
function searchPaths({ series, seriesWords: words }: Target): string[] {
  const query = {
    ...{ q: words.title, seriesId: series, seriesTitle: words.title, creator: words.organizers },
    ...{ contributor: words.contributors, publisher: words.publishers, rightsholder: words.rightsholder },
    ...{ language: words.language, license: words.license, subject: words.subject },
    ...{ description: words.description, createdfrom: '2001-01-01T00:00:00Z', edit: 'true', offset: '1' },
  };
  const list = '/api/series/series.json';
  return [list, ...Object.entries(query).map(([name, value]) => `${list}?${name}=${value}&fuzzyMatch=true`)];
}

function pathsOf(list: string, filters: [string, string][], { sorts }: ListedResource, extras: string): string[] {
  const filter = filters.map(([name, value]) => `filter=${name}:${value}`);
  const union = [...new Set(filter)].slice(0, 40).join('&');
  return [
    list,
    `${list}?${extras}`,
    `${list}?onlyWithWriteAccess=true&${extras}`,
    ...['limit=1', 'limit=1&offset=1', 'offset=2', 'limit=0', 'limit=1000'].map((page) => `${list}?${page}`),
    ...Object.keys(sorts.criteria).flatMap((name) =>
      DIRECTIONS.map((direction) => `${list}?sort=${name}:${direction}&limit=2`),
    ),
    ...filter.map((each) => `${list}?${each}&${extras}`),
    `${list}?${union}`,
    `${list}?${filter.at(0)}&onlyWithWriteAccess=true`,
  ];
}
