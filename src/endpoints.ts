import {
  apiDocument,
  apiInfo,
  apiVersions,
  defaultVersion,
  type ServedDocument,
} from './about/base.endpoints.ts';
import { docsAsset, docsPage } from './about/docs.endpoints.ts';
import { liveness, readiness } from './about/health.endpoints.ts';
import { home } from './about/home.endpoint.ts';
import { engageUrl, me, myRoles, organization, organizationProperties } from './access/info.endpoints.ts';
import { signIn, signInForm, signOut } from './access/sessions/sign-in.endpoints.ts';
import type { Context } from './context.ts';
import { RECORDERS } from './endpoints-recorders.ts';
import { addAclEntry, putEventAcl, readEventAcl, removeAclEntry } from './events/endpoints/acl.endpoints.ts';
import { readEvent, removeEvent } from './events/endpoints/events.endpoints.ts';
import { listEvents } from './events/endpoints/list.endpoints.ts';
import {
  deleteEventCatalog,
  putEventFields,
  readEventMetadata,
} from './events/endpoints/metadata.endpoints.ts';
import { listPublications, readPublication } from './events/endpoints/publications.endpoints.ts';
import { putScheduling, readScheduling } from './events/endpoints/scheduling.endpoints.ts';
import { downloadTrack, listTracks } from './events/media/media.endpoints.ts';
import type { Endpoint } from './http/endpoint/endpoint.ts';
import {
  addressOptions,
  addressState,
  appendAtAddress,
  beginAtAddress,
  removeAtAddress,
} from './ingest/direct/address.endpoints.ts';
import { newDirectUpload, readDirectUpload, removeDirectUpload } from './ingest/direct/direct.endpoints.ts';
import { newEvent } from './ingest/external-api/create.endpoint.ts';
import { addTrack } from './ingest/external-api/track.endpoint.ts';
import { changeEvent } from './ingest/external-api/update.endpoint.ts';
import { uploadAsset, uploadingPage } from './ingest/upload-page/upload-page.endpoints.ts';
import {
  appendToUpload,
  createUpload,
  overrideMethod,
  removeUpload,
  uploadOptions,
  uploadState,
} from './ingest/uploads/tus.endpoints.ts';
import { listProvider, listProviderNames } from './metadata/list-providers.endpoints.ts';
import type { Group } from './openapi/document.ts';
import { operatorAgents } from './operator/agents/agents.endpoint.ts';
import {
  operatorControl,
  operatorDelete,
  operatorRetryAll,
  operatorStart,
} from './operator/control.endpoints.ts';
import { readMetrics } from './operator/metrics/metrics.endpoint.ts';
import { operatorHome } from './operator/now/now.endpoint.ts';
import { operatorLanes, operatorParts, operatorWorkers } from './operator/parts/parts.endpoints.ts';
import { operatorRecording } from './operator/recordings/recording.endpoint.ts';
import { operatorSearch } from './operator/recordings/search.endpoint.ts';
import { operatorTrends } from './operator/trends/trends.endpoint.ts';
import { operatorUploads } from './operator/uploads.endpoint.ts';
import {
  operatorAddWebhook,
  operatorChangeWebhook,
  operatorWebhooks,
} from './operator/webhooks/webhooks.endpoints.ts';
import { publishedFile } from './publications/files.endpoints.ts';
import { signUrl } from './publications/sign.endpoints.ts';
import { watchPage } from './publications/watch.endpoints.ts';
import { listAgents, readAgent } from './recordings/agents/agents.endpoints.ts';
import { putSeriesAcl, readSeriesAcl } from './series/endpoints/acl.endpoints.ts';
import { listSeries } from './series/endpoints/list.endpoints.ts';
import {
  deleteSeriesCatalog,
  putSeries,
  putSeriesFields,
  readSeriesMetadata,
} from './series/endpoints/metadata.endpoints.ts';
import { putProperties, readProperties } from './series/endpoints/properties.endpoints.ts';
import { searchSeries } from './series/endpoints/search.endpoints.ts';
import { deleteSeries, newSeries, readSeries } from './series/endpoints/series.endpoints.ts';
import { allUpdates, eventUpdates } from './stream/updates.endpoints.ts';
import { listDeliveries, retryParked, testWebhook } from './webhooks/deliveries.endpoints.ts';
import {
  listWebhooks,
  newWebhook,
  putWebhook,
  readWebhook,
  removeWebhook,
} from './webhooks/webhooks.endpoints.ts';
import { createWorkflow } from './workflows/create.endpoint.ts';
import { listDefinitions, readDefinition } from './workflows/definitions.endpoints.ts';
import { listWorkflows } from './workflows/list.endpoint.ts';
import {
  changeWorkflow,
  deleteWorkflow,
  readWorkflow,
  workflowsForOperators,
} from './workflows/workflows.endpoints.ts';

/** What handlers are given beside the request. */
export type AppServices = Context & { document: ServedDocument };

/** Every endpoint, in the groups and the order of the reference. A new endpoint is a line here. */
export const REFERENCE: readonly Group<Endpoint<AppServices>>[] = [
  {
    name: 'Base',
    description: 'What the API is, and which versions it speaks.',
    endpoints: [home, apiInfo, apiVersions, defaultVersion, apiDocument],
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
  RECORDERS,
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

/** What people see; none of it is in the reference. */
export const PAGES: readonly Endpoint<AppServices>[] = [
  docsPage,
  docsAsset,
  watchPage,
  publishedFile,
  signInForm,
  signIn,
  signOut,
  operatorHome,
  operatorSearch,
  operatorRecording,
  operatorControl,
  operatorStart,
  operatorDelete,
  operatorRetryAll,
  operatorParts,
  operatorLanes,
  operatorWorkers,
  operatorWebhooks,
  operatorAddWebhook,
  operatorChangeWebhook,
  operatorTrends,
  operatorUploads,
  operatorAgents,
  readMetrics,
  workflowsForOperators,
  uploadingPage,
  uploadAsset,
];
