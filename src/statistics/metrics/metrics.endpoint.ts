import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { metrics } from '#platform/telemetry/metrics.ts';
import type { ServiceMetrics } from './service-metrics.ts';

interface Services {
  serviceMetrics: ServiceMetrics;
}

/** Everything that is measured, of this process and of the whole service, as Prometheus reads it. */
export async function metricsText(serviceMetrics: ServiceMetrics): Promise<Response> {
  const text = `${await metrics.metrics()}\n${await serviceMetrics.text()}`;
  return new Response(text, {
    headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' },
  });
}

/** For Prometheus; on METRICS_PORT it needs no account. */
export const readMetrics = defineEndpoint({
  method: 'get',
  path: '/metrics',
  access: ADMINISTRATORS,
  handle: (_, { serviceMetrics }: Services) => metricsText(serviceMetrics),
});
