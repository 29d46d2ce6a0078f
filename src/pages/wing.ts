import { receiveItem, receivingSystem } from '#maintenance/import/receive-item.endpoints.ts';
import type { WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { type Area, DENY_ALL_POLICY, type Guards } from '#platform/http/app/assemble-app.ts';
import { allowOrigins } from '#platform/http/app/cross-site.ts';
import type { WorkQueue } from '#platform/queue/work-queue.ts';
import { workflowsForOperators } from '#processing/workflows.endpoints.ts';
import { editorFile, editorPages, editorSettings, saveCut } from './editor/editor-page.endpoints.ts';
import { choose } from './lti/deep-link.endpoint.ts';
import * as launches from './lti/launch.endpoints.ts';
import { allowLaunchFrames } from './lti/launch-frames.ts';
import { LTI } from './lti/launch-target.ts';
import { seriesRecordings } from './lti/series.endpoint.ts';
import { operatorAgents } from './operator/agents/agents.endpoint.ts';
import { operatorDashboard } from './operator/dashboard/dashboard.endpoint.ts';
import { operatorAsset } from './operator/frame/operator-page.ts';
import { dashboardRoutes } from './operator/queue-dashboard.ts';
import { operatorBulkAction } from './operator/recordings/bulk-actions.endpoint.ts';
import { operatorRecording } from './operator/recordings/recording.endpoint.ts';
import { operatorRecordings } from './operator/recordings/recording-list.endpoint.ts';
import { operatorLanes, operatorSystem, operatorWorkers } from './operator/system/system.endpoints.ts';
import { operatorTrends } from './operator/trends/trends.endpoint.ts';
import { operatorUploads } from './operator/uploads.endpoint.ts';
import {
  operatorAddWebhook,
  operatorChangeWebhook,
  operatorWebhooks,
} from './operator/webhooks/operator-webhooks.endpoints.ts';
import {
  operatorControl,
  operatorDelete,
  operatorRetryAll,
  operatorStart,
} from './operator/workflow-control.endpoints.ts';
import { htmlErrorPages, redirectToSignIn, signIn, signInForm, signOut } from './sign-in/sign-in-page.ts';
import { docsAsset, docsPage } from './site/docs.endpoints.ts';
import { studioPages } from './studio/studio-pages.ts';
import { uploadAsset, uploadingPage } from './upload/upload-page.endpoints.ts';
import { countViewOfRecording } from './watch/count-view.endpoint.ts';
import { embedPage } from './watch/embed.endpoint.ts';
import { oembed } from './watch/oembed.endpoint.ts';
import { OLD_FOLDERS, oldAddresses } from './watch/old-addresses.endpoints.ts';
import { oldFiles } from './watch/old-files.ts';
import type { RecordingServices } from './watch/open-recording.ts';
import { watchAsset, watchPage } from './watch/watch.endpoints.ts';

export { home } from './site/home.endpoint.ts';

const DASHBOARD =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'";

/** All pages with their files and forms. */
export const wing = {
  endpoints: [
    docsPage,
    docsAsset,
    watchPage,
    watchAsset,
    countViewOfRecording,
    embedPage,
    oembed,
    ...oldAddresses,
    signInForm,
    signIn,
    signOut,
    operatorDashboard,
    operatorAsset,
    operatorRecordings,
    operatorBulkAction,
    operatorRecording,
    operatorControl,
    operatorStart,
    operatorDelete,
    operatorRetryAll,
    operatorSystem,
    operatorLanes,
    operatorWorkers,
    operatorWebhooks,
    operatorAddWebhook,
    operatorChangeWebhook,
    operatorTrends,
    operatorUploads,
    operatorAgents,
    // Below /admin, whose guard is here.
    workflowsForOperators,
    receivingSystem,
    receiveItem,
    uploadingPage,
    uploadAsset,
    launches.consumerLaunch,
    launches.loginByLink,
    launches.loginByForm,
    launches.platformLaunch,
    launches.startInFrame,
    launches.startInWindow,
    launches.launchKeys,
    choose,
    seriesRecordings,
    ...editorPages,
    saveCut,
    editorFile,
    editorSettings,
  ],
  areas: ({ trusted, onPages, forReaders, ask, launchOrigins }: Guards): Area[] => {
    const layers = [htmlErrorPages()];
    const framed = [allowLaunchFrames(launchOrigins), ...layers];
    return [
      { path: '/admin', layers, guards: [onPages, redirectToSignIn(), ask], contentPolicy: DASHBOARD },
      { path: '/upload', layers: framed, guards: [onPages, redirectToSignIn(), ask], contentPolicy: DENY_ALL_POLICY },
      { path: '/studio', layers: framed, guards: [onPages, redirectToSignIn()] },
      { path: '/editor-ui', layers: framed, guards: [onPages, redirectToSignIn(), ask] },
      { path: '/ui', guards: [onPages, ask] },
      { path: '/watch', guards: [forReaders] },
      { path: '/embed', guards: [forReaders] },
      ...OLD_FOLDERS.map((path) => ({ path, guards: [onPages] })),
      { path: '/oembed', contentPolicy: DENY_ALL_POLICY },
      {
        path: LTI, // Recorders in pages of trusted sites ask here, too.
        layers: [allowOrigins(trusted, [], { credentials: true }), htmlErrorPages({ frames: '*' })],
        guards: [onPages, ask],
        contentPolicy: DENY_ALL_POLICY,
      },
      { path: '/sign-in', layers, contentPolicy: DENY_ALL_POLICY },
      { path: '/sign-out', layers, contentPolicy: DENY_ALL_POLICY },
    ];
  },
  mounted: ({ queue, studio }: { queue: WorkQueue; studio: WebAppFolder | undefined }) => [
    dashboardRoutes(queue),
    studioPages(studio),
  ],
  unknown: (services: RecordingServices) => [oldFiles(services)],
};
