import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { metrics } from '#platform/telemetry/metrics.ts';
import type { ServiceMetrics } from './service-metrics.ts';

interface Services {
  serviceMetrics: ServiceMetrics;
}

/** Returns the metrics of this process and of the whole service in Prometheus' text format. */
export async function metricsText(serviceMetrics: ServiceMetrics): Promise<Response> {
  const text = `${await metrics.metrics()}\n${await serviceMetrics.text()}`;
  return new Response(text, {
    headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' },
  });
}

/** Serves Prometheus. METRICS_PORT serves the same without an account. */
export const readMetrics = defineEndpoint({
  method: 'get',
  path: '/metrics',
  access: ADMINISTRATORS,
  handle: (_, { serviceMetrics }: Services) => metricsText(serviceMetrics),
});
