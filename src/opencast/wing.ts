import { type Area, DENY_ALL_POLICY, type Guards } from '#platform/http/app/assemble-app.ts';
import { allowOrigins } from '#platform/http/app/cross-site.ts';
import { definitionsForAgents } from '#processing/definitions.endpoints.ts';
import { CALENDAR_ENDPOINTS } from './calendar/calendar.endpoints.ts';
import { REPORT_ENDPOINTS } from './capture-admin/agent-report.endpoints.ts';
import { AGENT_ENDPOINTS } from './capture-admin/agents.endpoints.ts';
import { RECORDING_ENDPOINTS } from './capture-admin/recordings.endpoints.ts';
import { DISCOVERY_ENDPOINTS } from './discovery/discovery.endpoints.ts';
import { EDITOR_ENDPOINTS } from './editor/editor.endpoints.ts';
import { seriesFeed } from './feeds/series-feed.endpoint.ts';
import { ELEMENT_ENDPOINTS } from './packages/add-element.endpoints.ts';
import { createPackage, createPackageWithId, discardPackage, ingestPackage } from './packages/package.endpoints.ts';
import { SCHEDULE_ENDPOINTS } from './packages/schedule-package.endpoint.ts';
import { SINGLE_REQUEST_ENDPOINTS } from './packages/single-request.endpoint.ts';
import { ZIP_ENDPOINTS } from './packages/zipped-package.endpoint.ts';
import { CONFLICT_ENDPOINTS } from './recordings/conflicts.endpoints.ts';
import { SCHEDULED_ENDPOINTS } from './recordings/scheduled-recordings.endpoints.ts';
import { searchEpisodes } from './search/episodes.endpoint.ts';
import { searchForSeries } from './search/series.endpoint.ts';
import { postSeries, readDublinCoreSeries } from './series/dublin-core-series.endpoints.ts';
import { SERIES_ENDPOINTS } from './series/series-for-recorders.endpoints.ts';

export { PORTAL } from './tobira/tobira.endpoints.ts';

/** Paths at the root of the server that agents and recorders use. */
const AGENTS = [
  ...['/services', '/recordings', '/ingest', '/info', '/sysinfo', '/org', '/series'],
  ...['/studio-api', '/admin-ng', '/workflow', '/search'],
];

/** The endpoints of capture agents and recorders, in the order of the reference. */
export const RECORDERS = {
  name: 'Capture agents and recorders',
  description:
    'The protocol of capture agents and of recorders in browsers: find services, read a calendar, send media packages.',
  endpoints: [
    ...DISCOVERY_ENDPOINTS,
    ...REPORT_ENDPOINTS,
    ...AGENT_ENDPOINTS,
    ...RECORDING_ENDPOINTS,
    ...CALENDAR_ENDPOINTS,
    ...CONFLICT_ENDPOINTS,
    ...SCHEDULED_ENDPOINTS,
    createPackage,
    createPackageWithId,
    ...ELEMENT_ENDPOINTS,
    ...ingestPackage,
    ...SINGLE_REQUEST_ENDPOINTS,
    ...ZIP_ENDPOINTS,
    ...SCHEDULE_ENDPOINTS,
    discardPackage,
    ...SERIES_ENDPOINTS,
    readDublinCoreSeries,
    postSeries,
    definitionsForAgents,
    searchEpisodes,
    searchForSeries,
  ],
};

/** The endpoints of video editors, in the order of the reference. */
export const EDITORS = {
  name: 'Video editors',
  description: 'The protocol of the Opencast editor: cut, selected streams, captions and metadata of a recording.',
  endpoints: EDITOR_ENDPOINTS,
};

/** The protocols of capture agents, recorders and editors. It holds the rules for delivered media packages, and translates everything else. */
export const wing = {
  endpoints: [seriesFeed],
  areas: ({ trusted, byProgram, byAnyone, onPages, ask, runAs }: Guards): Area[] => [
    ...['/capture-admin', '/tobira'].map((path) => ({
      path,
      layers: [allowOrigins(trusted)],
      guards: [byProgram, ask, runAs],
      contentPolicy: DENY_ALL_POLICY,
    })),
    { path: '/editor', guards: [onPages, ask, runAs], contentPolicy: DENY_ALL_POLICY },
    ...AGENTS.map((path) => ({
      path,
      // Some recorders in pages of trusted sites use the session of the person.
      layers: [allowOrigins(trusted, [], { credentials: true })],
      guards: [byAnyone, ask, runAs],
      contentPolicy: DENY_ALL_POLICY,
    })),
    { path: '/feeds', contentPolicy: DENY_ALL_POLICY },
  ],
  mounted: () => [],
};
