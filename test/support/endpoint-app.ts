import type { Hono } from 'hono';
import { type AppParts, assembleApp } from '#platform/http/app/assemble-app.ts';
import type { Endpoint } from '#platform/http/endpoint/endpoint.ts';
import { silentLogger } from '#platform/telemetry/log.ts';

const NO_OTHERS = { publicUrl: 'http://inlet.test', trusted: [] };

/** An application that has these endpoints alone, in the layers that every request passes. */
export function endpointApp<Services>(
  endpoints: readonly Endpoint<Services>[],
  services: Services,
  parts: Partial<Pick<AppParts<Services>, 'areas' | 'sites' | 'mounted' | 'log'>> = {},
): Hono {
  return assembleApp({ log: silentLogger, areas: [], sites: NO_OTHERS, endpoints, services, ...parts });
}
