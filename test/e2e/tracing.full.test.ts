import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { recording } from '../support/clips.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields, file } from '../support/form.ts';
import { redisAvailable } from '../support/redis.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type Span, TraceCollector } from '../support/trace-collector.ts';
import { operationsOfEvent } from '../support/workflows.ts';

const SERVER = 2;
const PRODUCER = 4;
const CONSUMER = 5;
const FAILED = 2;
const OFTEN = { OTEL_BSP_SCHEDULE_DELAY: '200' };

const redisHere = await redisAvailable();

// The context of a trace passes through what each runtime has of its own for asynchronous calls.
describe.skipIf(!redisHere).each(['deno', 'node'] as const)('on %s', (runtime) => {
  let collector: TraceCollector;
  let server: TestServer;
  let admin: Client;
  beforeEach(async () => {
    collector = await TraceCollector.start();
  });
  afterEach(async () => {
    await server?.stop();
    collector.stop();
  });
  const start = async (env: Record<string, string>) => {
    server = await startServer({ runtime, roles: ['api', 'worker'], redis: true, env: { ...OFTEN, ...env } });
    admin = new Client(server.url);
  };
  /** @param traceId what the client says of its own trace */
  const upload = async (bytes: Buffer, traceId: string) => {
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const id = await admin.create([...eventFields(), file('presenter', 'lecture.mp4', bytes)], headers);
    await admin.processed(id);
    return id;
  };
  const trace = (id: string) => collector.spans.filter(({ traceId }) => traceId === id);

  test('a recording is one trace, from the request by way of the relay to the tools of each operation', async () => {
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20c2VjcmV0',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    const traceId = randomBytes(16).toString('hex');
    const event = await upload(await recording(), traceId);
    const named = (name: string) => trace(traceId).find((span) => span.name === name) as Span;
    await eventually(() => expect(named('POST /api/events')).toBeDefined());

    const request = named('POST /api/events');
    expect(request).toMatchObject({
      kind: SERVER,
      parentSpanId: '00f067aa0ba902b7',
      attributes: { 'http.response.status_code': 201, 'http.route': '/api/events' },
      resource: { 'service.name': 'inlet', 'deployment.environment.name': 'test' },
    });
    const operations = await operationsOfEvent(server.database, event);
    const succeeded = operations.filter(({ state }) => state === 'succeeded');
    expect(succeeded.length).toBeGreaterThan(2);
    await eventually(() => {
      for (const { operation } of succeeded) {
        expect(named(`relay ${operation}`)).toMatchObject({ kind: PRODUCER, parentSpanId: request.spanId });
        expect(named(`operation ${operation}`)).toMatchObject({
          kind: CONSUMER,
          parentSpanId: request.spanId,
          attributes: { 'inlet.event': event, 'inlet.attempt': 1 },
        });
      }
    });
    const encode = named('operation encode');
    expect(
      trace(traceId).find(({ parentSpanId, name }) => parentSpanId === encode.spanId && name.startsWith('ffmpeg')),
    ).toBeDefined();
    expect(request.resource['service.instance.id']).not.toBe(encode.resource['service.instance.id']);
    expect(collector.received[0]).toMatchObject({ path: '/v1/traces', authorization: 'Basic c2VjcmV0' });
    // What is logged leads to the trace, and tells no secret.
    const logged = server.processes.flatMap(({ log }) => log).filter((line) => line.traceId === traceId);
    expect(logged.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['event created', 'operation started']));
    expect(server.processes.map(({ output }) => output).join()).not.toContain('c2VjcmV0');
    // Nobody wants to see who asks after the health.
    expect(collector.spans.filter(({ attributes }) => String(attributes['url.path']).startsWith('/health'))).toEqual(
      [],
    );
  });

  // The tests below exercise code that is the same on both runtimes.
  if (runtime === 'node') return;

  test('an operation that fails is marked as failed, with its reason', async () => {
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' });
    const traceId = randomBytes(16).toString('hex');
    await upload(Buffer.from('no recording'), traceId);
    await eventually(() => {
      const inspected = trace(traceId).find(({ name }) => name === 'operation inspect');
      expect(inspected?.status).toEqual({
        code: FAILED,
        message: expect.stringContaining('no known media format'),
      });
    });
  });

  test('protobuf is what collectors get unless asked otherwise', async () => {
    await start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/elsewhere` });
    const traceId = randomBytes(16).toString('hex');
    await upload(Buffer.from('no recording'), traceId);
    const holds = (text: string | Buffer) => collector.received.some(({ body }) => body.includes(text));
    await eventually(() => {
      expect(holds('operation inspect')).toBe(true);
      expect(holds(Buffer.from(traceId, 'hex'))).toBe(true);
    });
    expect(new Set(collector.received.map(({ type, path }) => `${type} ${path}`))).toEqual(
      new Set(['application/x-protobuf /elsewhere']),
    );
  });

  test('a collector that is away keeps nothing waiting, and is told of in the log', async () => {
    const { url } = collector;
    const begun = performance.now();
    collector.stop();
    await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    await upload(await recording(), randomBytes(16).toString('hex'));
    const told = () => server.api.log.filter(({ msg }) => msg === 'traces cannot be sent');
    await eventually(() => expect(told().length).toBeGreaterThan(0), 30_000);
    // Once a minute, and no more often.
    expect(told().length).toBeLessThanOrEqual(1 + (performance.now() - begun) / 60_000);
    server.api.signal('SIGTERM');
    expect(await server.api.ended()).toBe(0);
  });
});
