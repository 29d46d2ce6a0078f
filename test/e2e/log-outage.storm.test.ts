import { closeSync, openSync, writeSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { eventFields } from '../support/form.ts';
import { createPipe, PIPE_BYTES } from '../support/pipe.ts';
import { startServerFor, type TestServer } from '../support/server.ts';

const EVENTS = 10;

/** Creates an event, which is a line of the log, and its request another. */
async function createEvent(server: TestServer): Promise<void> {
  await new Client(server.url).create(eventFields());
}

async function createEvents(server: TestServer): Promise<void> {
  for (let i = 0; i < EVENTS; i += 1) await createEvent(server);
}

// Each runtime writes standard output in its own way.
describe.concurrent.each(['deno', 'node'] as const)('on %s', (runtime) => {
  test('a disk too full for the log costs the log and nothing else', async (context) => {
    const full = openSync('/dev/full', 'w');
    const server = await startServerFor(context, { runtime, roles: ['api'], logFile: full });
    closeSync(full);
    await createEvents(server);
    server.api.signal('SIGTERM');
    expect(await server.api.ended()).toBe(0);
    expect(server.api.output).toBe('');
  });

  test('a log that nobody takes holds up nothing, and tells what is missing', async (context) => {
    const pipe = createPipe(context);
    writeSync(pipe.writer, ' '.repeat(PIPE_BYTES));
    const server = await startServerFor(context, { runtime, roles: ['api'], logFile: pipe.writer });
    await createEvents(server);
    let log = '';
    const logged = (pattern: RegExp) =>
      eventually(() => {
        log += pipe.read();
        expect(log).toMatch(pattern);
      });
    await logged(new RegExp(`(event created[^]*){${EVENTS}}`));

    pipe.close();
    await createEvents(server);
    pipe.open();
    await logged(/could not be written/);
    expect(Number(/"dropped":(\d+)/.exec(log)?.[1])).toBeGreaterThan(EVENTS);
    await createEvent(server);
    await logged(/could not be written"}\n(.*\n)*.*event created/);
    server.api.signal('SIGTERM');
    expect(await server.api.ended()).toBe(0);
    for (const line of (log + pipe.read()).trim().split('\n')) JSON.parse(line);
    expect(server.api.output).toBe('');
  });
});
