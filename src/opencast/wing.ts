import { type Area, NOTHING } from '#platform/http/app/app.ts';
import { shareWith } from '#platform/http/app/cross-site.ts';
import type { Guards } from '#platform/http/app/wing.ts';
import { definitionsForAgents } from '#processing/definitions.endpoints.ts';
import { calendar, calendarJson } from './calendar/calendar.endpoints.ts';
import {
  readCapabilities,
  readCapabilitiesXml,
  readConfigurationOfAgent,
  readConfigurationXml,
} from './capture-admin/properties.endpoints.ts';
import {
  deleteAgent,
  listAgentStates,
  listAgentStatesPlain,
  listAgentStatesXml,
  readAgentState,
  readAgentStateXml,
} from './capture-admin/read.endpoints.ts';
import {
  forgetRecording,
  listRecordings,
  listRecordingsJson,
  readRecording,
  readRecordingXml,
  reportRecordingState,
} from './capture-admin/recordings.endpoints.ts';
import { configureAgent, reportAgent } from './capture-admin/report.endpoints.ts';
import { bundleVersion, components, lti, organizations, releaseHealth, whoAmI } from './discovery/info.endpoints.ts';
import { availableServices, hosts, registeredServices } from './discovery/services.endpoints.ts';
import {
  addAttachment,
  addCatalog,
  addDublinCore,
  addTrack as addPackageTrack,
  addPartialTrack,
} from './packages/add.endpoints.ts';
import {
  createPackage,
  createPackageWithId,
  discardPackage,
  ingestPackage,
  ingestPackageWith,
} from './packages/package.endpoints.ts';
import { schedulePackage, schedulePackageWith } from './packages/schedule.endpoint.ts';
import { addPackage, addPackageWith } from './packages/single-request.endpoint.ts';
import { addZippedPackage, addZippedPackageWith } from './packages/zip.endpoint.ts';
import { publishedEpisode } from './search/episode.endpoint.ts';
import { countSeries, seriesForAgents, studioSeries } from './series/agents.endpoints.ts';
import { postSeries } from './series/dublincore.endpoint.ts';

/** Paths at the root of the server, as agents and recorders know them. */
const AGENTS = [
  ...['/services', '/recordings', '/ingest', '/info', '/sysinfo', '/org', '/lti', '/series'],
  ...['/studio-api', '/admin-ng', '/workflow', '/search'],
];

/** The endpoints of machines and recorders, in the order of the reference. */
export const RECORDERS = {
  name: 'Capture agents and recorders',
  description:
    'What machines in lecture halls and recorders in browsers speak: they find services, read a calendar and send media packages.',
  endpoints: [
    availableServices,
    registeredServices,
    hosts,
    whoAmI,
    releaseHealth,
    components,
    bundleVersion,
    organizations,
    lti,
    reportAgent,
    configureAgent,
    listAgentStates,
    listAgentStatesXml,
    listAgentStatesPlain,
    readAgentState,
    readAgentStateXml,
    readCapabilities,
    readCapabilitiesXml,
    readConfigurationOfAgent,
    readConfigurationXml,
    deleteAgent,
    reportRecordingState,
    listRecordings,
    listRecordingsJson,
    readRecording,
    readRecordingXml,
    forgetRecording,
    calendar,
    calendarJson,
    createPackage,
    createPackageWithId,
    addPackageTrack,
    addPartialTrack,
    addAttachment,
    addCatalog,
    addDublinCore,
    ingestPackage,
    ingestPackageWith,
    addPackage,
    addPackageWith,
    addZippedPackage,
    addZippedPackageWith,
    schedulePackage,
    schedulePackageWith,
    discardPackage,
    studioSeries,
    countSeries,
    seriesForAgents,
    postSeries,
    definitionsForAgents,
    publishedEpisode,
  ],
};

/** The protocol of capture agents and recorders. It translates, and owns no rule. */
export const wing = {
  endpoints: [],
  areas: ({ trusted, byProgram, byAnyone, ask, runAs }: Guards): Area[] => [
    {
      path: '/capture-admin',
      layers: [shareWith(trusted)],
      guards: [byProgram, ask, runAs],
      contentPolicy: NOTHING,
    },
    ...AGENTS.map((path) => ({
      path,
      // Some recorders in pages of trusted sites count on the session that a person has here.
      layers: [shareWith(trusted, [], { credentials: true })],
      guards: [byAnyone, ask, runAs],
      contentPolicy: NOTHING,
    })),
  ],
  mounted: () => [],
};
