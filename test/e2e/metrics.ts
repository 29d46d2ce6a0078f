import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { samplesOf, sumOf } from '../support/exposition.ts';
import { eventFields, file } from '../support/form.ts';
import { freePort } from '../support/free-port.ts';
import { startServer, type TestServer } from '../support/server.ts';

const read = (path: string) => readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
/** Labels that Prometheus adds, and that histograms have. */
const GIVEN = ['instance', 'job', 'le', 'severity'];
/** Words that stand where a metric could. */
const METRIC = /\b(?:inlet|process)_[a-z_]+\b/g;

/** The expressions of all alerts and panels. */
async function expressions(): Promise<string[]> {
  const rules = await read('docker/prometheus/inlet.rules.yml');
  const dashboard = JSON.parse(await read('docker/grafana/dashboards/inlet.json'));
  const targets = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets);
  return [...rules.matchAll(/^ +expr: (.*)$/gm)]
    .map(([, expr = '']) => expr)
    .concat(targets.map(({ expr }: { expr: string }) => expr));
}

/** Tests of the metrics of a server. The figures of the process come from its runtime. */
export function describeMetrics(runtime: Runtime): void {
  describe(`metrics on ${runtime}`, () => {
    let server: TestServer;
    let port: number;
    beforeAll(async () => {
      port = await freePort();
      server = await startServer({ runtime, env: { METRICS_PORT: String(port) } });
    });
    afterAll(() => server?.stop());
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

    test('a recording shows in the metrics, and so does one that fails', async () => {
      const admin = new Client(server.url);
      const clip = await recording();
      const id = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', clip)]);
      await admin.processed(id);
      const broken = await admin.create([
        ...eventFields(),
        file('presenter', 'lecture.mp4', Buffer.from('no recording')),
      ]);
      await admin.processed(broken);
      // What has been written down is counted a moment later, and figures of the database are kept for some seconds.
      await eventually(async () => {
        const samples = samplesOf(await scrape());
        expect(sumOf(samples, 'inlet_upload_bytes_total')).toBe(clip.length + 'no recording'.length);
        expect(sumOf(samples, 'inlet_uploads_under_way')).toBe(0);
        expect(
          sumOf(samples, 'inlet_operation_duration_seconds_count', {
            operation: 'encode',
            outcome: 'succeeded',
          }),
        ).toBe(2);
        expect(sumOf(samples, 'inlet_operation_failures_total', { operation: 'inspect' })).toBe(1);
        expect(sumOf(samples, 'inlet_upload_to_publication_seconds_count')).toBe(1);
        expect(sumOf(samples, 'inlet_workers')).toBe(1);
        expect(
          sumOf(samples, 'inlet_http_request_duration_seconds_count', {
            method: 'POST',
            route: '/api/events',
            status: '2xx',
          }),
        ).toBe(2);
        expect(sumOf(samples, 'inlet_failed_workflows')).toBe(1);
      });
      // Paths are no labels: they would be without number.
      expect(await scrape()).not.toContain(id);
    });

    test('every metric and label that alerts and panels name is exported', async () => {
      const samples = samplesOf(await scrape());
      const names = new Set(samples.map(({ name }) => name));
      const help = new Set([...(await scrape()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      for (const expression of await expressions()) {
        for (const [name] of expression.matchAll(METRIC)) {
          const family = name.replace(/_(bucket|count|sum)$/, '');
          expect(names.has(name) || help.has(family), `${name} in ${expression}`).toBe(true);
        }
        const named = [
          ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
          ...[...expression.matchAll(/[{,]\s*(\w+)=/g)].map(([, label = '']) => label),
        ];
        for (const label of named) {
          const known = labels.has(label) || GIVEN.includes(label) || (await declaredLabels()).includes(label);
          expect(known, `the label ${label} in ${expression}`).toBe(true);
        }
      }
    });

    test.skipIf(!hasPromtool && !process.env.CI)('Prometheus finds nothing wrong with them', async () => {
      execFileSync('promtool', ['check', 'metrics'], { input: await scrape() });
    });

    test('an account that is no administrator does not see them, nobody does without one', async () => {
      const admin = new Client(server.url);
      expect((await admin.fetch('/metrics')).status).toBe(200);
      const answer = await fetch(`${server.url}/metrics`, { redirect: 'manual' });
      expect(answer.status).toBe(401);
    });

    test('with the database away the figures of the process are there, and the port answers', async () => {
      const away = await startServer({
        runtime,
        proxy: true,
        env: { METRICS_PORT: String(await freePort()) },
      });
      try {
        await away.proxy.part();
        const admin = `Basic ${Buffer.from('admin:opencast').toString('base64')}`;
        const answer = await fetch(`${away.url}/metrics`, { headers: { Authorization: admin } });
        const samples = samplesOf(await answer.text());
        expect(samples.find(({ name }) => name === 'inlet_database_up')?.value).toBe(0);
        expect(samples.some(({ name }) => name === 'inlet_workers')).toBe(false);
        expect(sumOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
      } finally {
        await away.stop();
      }
    });

    test('a port that is taken stops the start with a sentence that names the variable', async () => {
      await server.api.kill();
      server.api.start({ METRICS_PORT: new URL(server.databaseUrl).port });
      await server.api.ended();
      expect(server.api.output).toContain('set METRICS_PORT to a free one');
    });
  });
}

/** Labels of what has not happened in this run, such as a deferral, by the declarations. */
async function declaredLabels(): Promise<string[]> {
  const declarations = [...(await read('src/platform/telemetry/metrics.ts')).matchAll(/labelNames: \[([^\]]*)\]/g)];
  return declarations.flatMap(([, list = '']) => [...list.matchAll(/'(\w+)'/g)].map(([, label = '']) => label));
}
