import {
  bundleVersion,
  components,
  lti,
  organizations,
  releaseHealth,
  whoAmI,
} from './about/agents/info.endpoints.ts';
import { availableServices, hosts, registeredServices } from './about/agents/services.endpoints.ts';
import type { Context } from './context.ts';
import { calendar, calendarJson } from './events/calendar/calendar.endpoints.ts';
import { publishedEpisode } from './events/endpoints/episode.endpoint.ts';
import type { Endpoint } from './http/endpoint/endpoint.ts';
import {
  addAttachment,
  addCatalog,
  addDublinCore,
  addTrack as addPackageTrack,
  addPartialTrack,
} from './ingest/packages/add.endpoints.ts';
import { createPackage, createPackageWithId } from './ingest/packages/create.endpoints.ts';
import { discardPackage } from './ingest/packages/discard.endpoint.ts';
import { ingestPackage, ingestPackageWith } from './ingest/packages/ingest.endpoint.ts';
import { schedulePackage, schedulePackageWith } from './ingest/packages/schedule.endpoint.ts';
import { addPackage, addPackageWith } from './ingest/packages/single-request.endpoint.ts';
import { addZippedPackage, addZippedPackageWith } from './ingest/packages/zip.endpoint.ts';
import type { Group } from './openapi/document.ts';
import {
  readCapabilities,
  readCapabilitiesXml,
  readConfigurationOfAgent,
  readConfigurationXml,
} from './recordings/agents/properties.endpoints.ts';
import {
  deleteAgent,
  listAgentStates,
  listAgentStatesPlain,
  listAgentStatesXml,
  readAgentState,
  readAgentStateXml,
} from './recordings/agents/read.endpoints.ts';
import { configureAgent, reportAgent } from './recordings/agents/report.endpoints.ts';
import {
  forgetRecording,
  listRecordings,
  listRecordingsJson,
  readRecording,
  readRecordingXml,
  reportRecordingState,
} from './recordings/reports/recordings.endpoints.ts';
import { countSeries, seriesForAgents, studioSeries } from './series/endpoints/agents.endpoints.ts';
import { postSeries } from './series/endpoints/dublincore.endpoint.ts';
import { definitionsForAgents } from './workflows/definitions.endpoints.ts';

/** The endpoints of machines and recorders, in the order of the reference. */
export const RECORDERS: Group<Endpoint<Context>> = {
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
