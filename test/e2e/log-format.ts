import { expect, test } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields } from '../support/form.ts';
import { startServerFor } from '../support/server.ts';

const ENTRY = /^\[\d\d:\d\d:\d\d\] (DEBUG|INFO|WARN|ERROR): \S/;
/** What belongs to the entry before: the stack of an error. */
const REST = /^\s+\S/;

/** A test of the log that people read. Each runtime prints errors and warnings in its own way. */
export function testLogFormat(runtime: Runtime): void {
  test(`on ${runtime}, with LOG_FORMAT=pretty the log is lines for people`, async (context) => {
    const server = await startServerFor(context, {
      runtime,
      roles: ['api'],
      proxy: true,
      env: { LOG_FORMAT: 'pretty', LOG_LEVEL: 'debug', SHUTDOWN_SECONDS: '1' },
    });
    const id = await new Client(server.url).create(eventFields(), { 'X-Request-Id': 'for-people' });
    await server.proxy.part();
    await eventually(async () => expect((await fetch(`${server.url}/health/ready`)).status).toBe(503));
    server.api.signal('SIGTERM');
    await server.api.ended();

    const lines = server.api.output.trimEnd().split('\n');
    expect(lines.filter((line) => !ENTRY.test(line) && !REST.test(line))).toEqual([]);
    const entry = (...parts: string[]) => lines.filter((line) => parts.every((part) => line.includes(part)));
    expect(entry('DEBUG: configuration', '"format":"pretty"')).toHaveLength(1);
    expect(entry('INFO: the API is listening', server.url)).toHaveLength(1);
    expect(entry('INFO: event created', '"requestId":"for-people"', id)).toHaveLength(1);
    expect(entry('WARN: not ready', '"part":"database"').length).toBeGreaterThan(0);
    expect(entry('INFO: stopping')).toHaveLength(1);
  });
}
