import type { Endpoint } from '../endpoint.ts';
import { AGENTS } from './agents.ts';
import { BASE } from './base.ts';
import { EVENT_ACCESS } from './event-access.ts';
import { EVENT_MEDIA } from './event-media.ts';
import { EVENT_SCHEDULING } from './event-scheduling.ts';
import { EVENTS } from './events.ts';
import { HEALTH } from './health.ts';
import { INFO } from './info.ts';
import { LIST_PROVIDERS } from './list-providers.ts';
import { EVENT_METADATA, SERIES_METADATA } from './metadata.ts';
import { SECURITY } from './security.ts';
import { SERIES_ENDPOINTS } from './series.ts';
import { SERIES_ACCESS } from './series-access.ts';

import { WORKFLOWS } from './workflows.ts';

/** Every endpoint of the API, in the order of the reference. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...BASE,
  ...INFO,
  ...EVENTS,
  ...EVENT_ACCESS,
  ...EVENT_METADATA,
  ...EVENT_MEDIA,
  ...EVENT_SCHEDULING,
  ...SERIES_ENDPOINTS,
  ...SERIES_ACCESS,
  ...SERIES_METADATA,
  ...AGENTS,
  ...WORKFLOWS,
  ...LIST_PROVIDERS,
  ...SECURITY,
  ...HEALTH,
];
