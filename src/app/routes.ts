import { engageUrl, me, myRoles, organization, organizationProperties } from '#access/info.endpoints.ts';
import * as groups from '#access/user-groups/groups.endpoints.ts';
import { listAgents, readAgent } from '#capture/agents/agents.endpoints.ts';
import {
  addAclEntry,
  putEventAcl,
  readEventAcl,
  removeAclEntry,
} from '#catalogue/events/endpoints/event-acl.endpoints.ts';
import * as eventMetadata from '#catalogue/events/endpoints/event-metadata.endpoints.ts';
import {
  listEvents,
  listPublications,
  readEvent,
  readPublication,
  removeEvent,
} from '#catalogue/events/endpoints/events.endpoints.ts';
import { putScheduling, readScheduling } from '#catalogue/events/endpoints/scheduling.endpoints.ts';
import { downloadTrack, listTracks } from '#catalogue/events/endpoints/tracks.endpoints.ts';
import * as playlists from '#catalogue/playlists/playlists.endpoints.ts';
import { deleteSeries, newSeries, readSeries } from '#catalogue/series/endpoints/series.endpoints.ts';
import { putSeriesAcl, readSeriesAcl } from '#catalogue/series/endpoints/series-acl.endpoints.ts';
import { listSeries, searchSeries } from '#catalogue/series/endpoints/series-lists.endpoints.ts';
import * as seriesMetadata from '#catalogue/series/endpoints/series-metadata.endpoints.ts';
import { putProperties, readProperties } from '#catalogue/series/endpoints/series-properties.endpoints.ts';
import { newDirectUpload, readDirectUpload, removeDirectUpload } from '#ingest/direct/direct-upload.endpoints.ts';
import * as address from '#ingest/direct/upload-url.endpoints.ts';
import { addTrack } from '#ingest/external-api/add-track.endpoint.ts';
import { newEvent } from '#ingest/external-api/create-event.endpoint.ts';
import { changeEvent } from '#ingest/external-api/update-event.endpoint.ts';
import * as tus from '#ingest/tus/tus.endpoints.ts';
import { liveness, readiness } from '#maintenance/health.endpoints.ts';
import { listProvider, listProviderNames } from '#metadata/list-providers.endpoints.ts';
import { allUpdates, eventUpdates } from '#notifications/stream/updates.endpoints.ts';
import * as deliveries from '#notifications/webhooks/deliveries.endpoints.ts';
import * as webhooks from '#notifications/webhooks/webhooks.endpoints.ts';
import { apiDocument, apiInfo, apiVersions, defaultVersion } from '#openapi/base.endpoints.ts';
import type { Group } from '#openapi/document.ts';
import type { ServedDocument } from '#openapi/served-document.ts';
import * as opencast from '#opencast/wing.ts';
import * as pages from '#pages/wing.ts';
import type { Wing } from '#platform/http/app/assemble-app.ts';
import type { Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { createWorkflow } from '#processing/create-workflow.endpoint.ts';
import { listDefinitions, readDefinition } from '#processing/definitions.endpoints.ts';
import { listWorkflows } from '#processing/workflow-list.endpoint.ts';
import * as workflows from '#processing/workflows.endpoints.ts';
import { publishedFile } from '#publications/files.endpoints.ts';
import { signUrl } from '#publications/sign.endpoints.ts';
import { readMetrics } from '#statistics/metrics/metrics.endpoint.ts';
import * as statistics from '#statistics/views/statistics.endpoints.ts';
import type { Context } from './context.ts';

export type AppServices = Context & { document: ServedDocument };

/** The endpoints of the reference, in its groups and order. Those of capture agents are in `opencast/wing.ts`. */
export const REFERENCE: readonly Group<Endpoint<AppServices>>[] = [
  {
    name: 'Base',
    description: 'The API and its versions.',
    endpoints: [
      // Browsers get a page.
      pages.home,
      apiInfo,
      apiVersions,
      defaultVersion,
      apiDocument,
    ],
  },
  {
    name: 'Info',
    description: 'The caller and its organization.',
    endpoints: [me, myRoles, organization, organizationProperties, engageUrl],
  },
  {
    name: 'Events',
    description: 'Recordings: upload, metadata and processing state.',
    endpoints: [listEvents, newEvent, readEvent, changeEvent, removeEvent],
  },
  {
    name: 'Event access',
    description: 'Roles that may read and change an event.',
    endpoints: [readEventAcl, putEventAcl, addAclEntry, removeAclEntry],
  },
  {
    name: 'Event metadata',
    description: 'The metadata catalogs of an event, field by field.',
    endpoints: [eventMetadata.readEventMetadata, eventMetadata.putEventFields, eventMetadata.deleteEventCatalog],
  },
  {
    name: 'Event media',
    description: 'Tracks and publications.',
    endpoints: [listTracks, downloadTrack, addTrack, listPublications, readPublication],
  },
  {
    name: 'Event scheduling',
    description: 'The planned recording of an event, and its capture agent.',
    endpoints: [readScheduling, putScheduling],
  },
  {
    name: 'Uploads',
    description: 'Resumable uploads, and direct uploads without an account.',
    endpoints: [
      tus.uploadOptions,
      tus.createUpload,
      tus.uploadState,
      tus.appendToUpload,
      tus.removeUpload,
      tus.overrideMethod,
      newDirectUpload,
      readDirectUpload,
      removeDirectUpload,
      address.addressOptions,
      address.beginAtAddress,
      address.addressState,
      address.appendAtAddress,
      address.removeAtAddress,
    ],
  },
  {
    name: 'Series',
    description: 'Groups of events, such as the lectures of a course.',
    endpoints: [
      listSeries,
      newSeries,
      searchSeries,
      readSeries,
      seriesMetadata.putSeries,
      deleteSeries,
      readProperties,
      putProperties,
    ],
  },
  {
    name: 'Series access',
    description: 'Roles that may read and change a series.',
    endpoints: [readSeriesAcl, putSeriesAcl],
  },
  {
    name: 'Series metadata',
    description: 'The metadata catalogs of a series, field by field.',
    endpoints: [seriesMetadata.readSeriesMetadata, seriesMetadata.putSeriesFields, seriesMetadata.deleteSeriesCatalog],
  },
  {
    name: 'Groups',
    description: 'Roles of several users.',
    endpoints: [
      groups.listGroups,
      groups.newGroup,
      groups.readGroup,
      groups.changeGroup,
      groups.removeGroup,
      groups.addMember,
      groups.removeMember,
    ],
  },
  {
    name: 'Playlists',
    description: 'Ordered lists of events.',
    endpoints: [
      playlists.listPlaylists,
      playlists.newPlaylist,
      playlists.readPlaylist,
      playlists.putPlaylist,
      playlists.putEntries,
      playlists.removePlaylist,
    ],
  },
  {
    name: 'Capture agents',
    description: 'Recorders in rooms, and their state.',
    endpoints: [listAgents, readAgent],
  },
  opencast.RECORDERS,
  opencast.EDITORS,
  opencast.PORTAL,
  {
    name: 'Workflows',
    description: 'The processing of events.',
    endpoints: [
      listDefinitions,
      readDefinition,
      listWorkflows,
      createWorkflow,
      workflows.readWorkflow,
      workflows.changeWorkflow,
      workflows.deleteWorkflow,
    ],
  },
  {
    name: 'Updates',
    description: 'Changes as they happen: event streams and webhooks.',
    endpoints: [
      eventUpdates,
      allUpdates,
      webhooks.listWebhooks,
      webhooks.newWebhook,
      webhooks.readWebhook,
      webhooks.putWebhook,
      webhooks.removeWebhook,
      deliveries.testWebhook,
      deliveries.listDeliveries,
      deliveries.retryParked,
    ],
  },
  {
    name: 'List providers',
    description: 'Allowed values of fields.',
    endpoints: [listProviderNames, listProvider],
  },
  {
    name: 'Statistics',
    description: 'Views of recordings as time series.',
    endpoints: [
      statistics.listStatisticsProviders,
      statistics.readStatisticsProvider,
      statistics.queryStatistics,
      statistics.exportStatistics,
    ],
  },
  { name: 'Security', description: 'Signed URLs.', endpoints: [signUrl] },
  { name: 'Health', description: 'For operators.', endpoints: [liveness, readiness] },
];

/** Endpoints for players and operators that the reference does not list. */
export const UNLISTED: readonly Endpoint<AppServices>[] = [publishedFile, readMetrics];

/** Removable parts: the folder of a wing, its import and its lines here. */
export const WINGS: readonly Wing<AppServices>[] = [
  // One line each: a wing is removed with its folder and its lines in this file.
  opencast.wing,
  pages.wing,
];
