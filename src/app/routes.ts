import { engageUrl, me, myRoles, organization, organizationProperties } from '#access/info.endpoints.ts';
import { listAgents, readAgent } from '#capture/agents/agents.endpoints.ts';
import { addAclEntry, putEventAcl, readEventAcl, removeAclEntry } from '#catalogue/events/endpoints/acl.endpoints.ts';
import { readEvent, removeEvent } from '#catalogue/events/endpoints/events.endpoints.ts';
import { listEvents } from '#catalogue/events/endpoints/list.endpoints.ts';
import {
  deleteEventCatalog,
  putEventFields,
  readEventMetadata,
} from '#catalogue/events/endpoints/metadata.endpoints.ts';
import { listPublications, readPublication } from '#catalogue/events/endpoints/publications.endpoints.ts';
import { putScheduling, readScheduling } from '#catalogue/events/endpoints/scheduling.endpoints.ts';
import { downloadTrack, listTracks } from '#catalogue/events/media/media.endpoints.ts';
import { putSeriesAcl, readSeriesAcl } from '#catalogue/series/endpoints/acl.endpoints.ts';
import { listSeries } from '#catalogue/series/endpoints/list.endpoints.ts';
import {
  deleteSeriesCatalog,
  putSeries,
  putSeriesFields,
  readSeriesMetadata,
} from '#catalogue/series/endpoints/metadata.endpoints.ts';
import { searchSeries } from '#catalogue/series/endpoints/search.endpoints.ts';
import { deleteSeries, newSeries, readSeries } from '#catalogue/series/endpoints/series.endpoints.ts';
import { putProperties, readProperties } from '#catalogue/series/properties.endpoints.ts';
import {
  addressOptions,
  addressState,
  appendAtAddress,
  beginAtAddress,
  removeAtAddress,
} from '#ingest/direct/address.endpoints.ts';
import { newDirectUpload, readDirectUpload, removeDirectUpload } from '#ingest/direct/direct.endpoints.ts';
import { newEvent } from '#ingest/external-api/create.endpoint.ts';
import { addTrack } from '#ingest/external-api/track.endpoint.ts';
import { changeEvent } from '#ingest/external-api/update.endpoint.ts';
import {
  appendToUpload,
  createUpload,
  overrideMethod,
  removeUpload,
  uploadOptions,
  uploadState,
} from '#ingest/tus/tus.endpoints.ts';
import { liveness, readiness } from '#maintenance/health.endpoints.ts';
import { listProvider, listProviderNames } from '#metadata/list-providers.endpoints.ts';
import { allUpdates, eventUpdates } from '#notifications/stream/updates.endpoints.ts';
import { listDeliveries, retryParked, testWebhook } from '#notifications/webhooks/deliveries.endpoints.ts';
import {
  listWebhooks,
  newWebhook,
  putWebhook,
  readWebhook,
  removeWebhook,
} from '#notifications/webhooks/webhooks.endpoints.ts';
import { apiDocument, apiInfo, apiVersions, defaultVersion, type ServedDocument } from '#openapi/base.endpoints.ts';
import type { Group } from '#openapi/document.ts';
import * as opencast from '#opencast/wing.ts';
import * as pages from '#pages/wing.ts';
import type { Wing } from '#platform/http/app/wing.ts';
import type { Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { createWorkflow } from '#processing/create.endpoint.ts';
import { listDefinitions, readDefinition } from '#processing/definitions.endpoints.ts';
import { listWorkflows } from '#processing/workflow-list.endpoint.ts';
import {
  changeWorkflow,
  deleteWorkflow,
  readWorkflow,
  workflowsForOperators,
} from '#processing/workflows.endpoints.ts';
import { publishedFile } from '#publications/files.endpoints.ts';
import { signUrl } from '#publications/sign.endpoints.ts';
import { readMetrics } from '#statistics/metrics/metrics.endpoint.ts';
import type { Context } from './context.ts';

export type AppServices = Context & { document: ServedDocument };

/** Every endpoint, in the groups and the order of the reference. Add a new endpoint here. */
export const REFERENCE: readonly Group<Endpoint<AppServices>>[] = [
  {
    name: 'Base',
    description: 'What the API is, and which versions it speaks.',
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
    description: 'Who the caller is and what it belongs to.',
    endpoints: [me, myRoles, organization, organizationProperties, engageUrl],
  },
  {
    name: 'Events',
    description: 'Recordings: how they come in, what is known of them, and how far they are.',
    endpoints: [listEvents, newEvent, readEvent, changeEvent, removeEvent],
  },
  {
    name: 'Event access',
    description: 'Which role may read and change an event.',
    endpoints: [readEventAcl, putEventAcl, addAclEntry, removeAclEntry],
  },
  {
    name: 'Event metadata',
    description: 'The metadata catalogs of an event, field by field.',
    endpoints: [readEventMetadata, putEventFields, deleteEventCatalog],
  },
  {
    name: 'Event media',
    description: 'Tracks, and what is published.',
    endpoints: [listTracks, downloadTrack, addTrack, listPublications, readPublication],
  },
  {
    name: 'Event scheduling',
    description: 'When events are recorded, and by which capture agent.',
    endpoints: [readScheduling, putScheduling],
  },
  {
    name: 'Uploads',
    description: 'Files that come in several requests, over lines that break.',
    endpoints: [
      uploadOptions,
      createUpload,
      uploadState,
      appendToUpload,
      removeUpload,
      overrideMethod,
      newDirectUpload,
      readDirectUpload,
      removeDirectUpload,
      addressOptions,
      beginAtAddress,
      addressState,
      appendAtAddress,
      removeAtAddress,
    ],
  },
  {
    name: 'Series',
    description: 'What belongs together, such as the lectures of a course.',
    endpoints: [
      listSeries,
      newSeries,
      searchSeries,
      readSeries,
      putSeries,
      deleteSeries,
      readProperties,
      putProperties,
    ],
  },
  {
    name: 'Series access',
    description: 'Which role may read and change a series.',
    endpoints: [readSeriesAcl, putSeriesAcl],
  },
  {
    name: 'Series metadata',
    description: 'The metadata catalogs of a series, field by field.',
    endpoints: [readSeriesMetadata, putSeriesFields, deleteSeriesCatalog],
  },
  {
    name: 'Capture agents',
    description: 'What records in the rooms, and how it reports itself.',
    endpoints: [listAgents, readAgent],
  },
  opencast.RECORDERS,
  {
    name: 'Workflows',
    description: 'How the processing of an event goes on.',
    endpoints: [
      listDefinitions,
      readDefinition,
      listWorkflows,
      createWorkflow,
      readWorkflow,
      changeWorkflow,
      deleteWorkflow,
    ],
  },
  {
    name: 'Updates',
    description: 'What happens, as it happens.',
    endpoints: [
      eventUpdates,
      allUpdates,
      listWebhooks,
      newWebhook,
      readWebhook,
      putWebhook,
      removeWebhook,
      testWebhook,
      listDeliveries,
      retryParked,
    ],
  },
  {
    name: 'List providers',
    description: 'Values for fields with a fixed set of them.',
    endpoints: [listProviderNames, listProvider],
  },
  { name: 'Security', description: 'Signed addresses.', endpoints: [signUrl] },
  { name: 'Health', description: 'For those who operate Inlet.', endpoints: [liveness, readiness] },
];

/** Endpoints for players and operators that the reference does not list. */
export const UNLISTED: readonly Endpoint<AppServices>[] = [publishedFile, readMetrics, workflowsForOperators];

/** Removable parts: the folder of a wing, its import and its lines here. */
export const WINGS: readonly Wing<AppServices>[] = [opencast.wing, pages.wing];
