import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Runtime } from '#cli/role.ts';
import { denoProgram } from '#cli/runtime.ts';
import type { ServerLimits } from '#platform/http/server/serve.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const SERVER = fileURLToPath(new URL('../support/limited-server.ts', import.meta.url));
const LIMITS: ServerLimits = {
  headersMs: 1_000,
  keepAliveMs: 1_000,
  connections: 6,
  unreadMs: 1_000,
  lingerMs: 1_500,
};
const HELLO = 'GET / HTTP/1.1\r\nHost: inlet\r\n\r\n';

/** A connection of a client, and what came over it. */
class Wire {
  readonly socket: Socket;
  received = '';
  /** Resolves when the other side ends it. */
  readonly ended: Promise<void>;

  constructor(port: number, sent = '') {
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(sent));
    onTestFinished(() => void this.socket.destroy());
    this.socket.on('error', () => undefined);
    this.socket.on('data', (bytes) => {
      this.received += bytes.toString('latin1');
    });
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  async answered(): Promise<string> {
    while (!this.received) await Promise.race([once(this.socket, 'data'), this.ended]);
    return this.received;
  }
}

/** Tests the limits of connections. Each runtime has its own HTTP server to keep them. */
export function describeConnections(runtime: Runtime): void {
  describe(`connections to a server on ${runtime}`, () => {
    let child: ChildProcess;
    let port: number;
    /** What the server printed. */
    let output = '';
    beforeAll(async () => {
      port = await freePort();
      const args = [SERVER, String(port), JSON.stringify(LIMITS)];
      const deno = ['run', '--quiet', '--no-config', '--no-lock', '--node-modules-dir=manual', '--allow-all'];
      child = runtime === 'node' ? spawn(process.execPath, args) : spawn(denoProgram(), [...deno, ...args]);
      await once(child.stdout as NodeJS.EventEmitter, 'data');
      child.stdout?.on('data', (text) => {
        output += text;
      });
    });
    afterAll(async () => {
      child.kill('SIGTERM');
      // What is idle ends with it, and nobody waits for the rest of its time.
      if (child.exitCode === null) await once(child, 'exit');
    });

    /** Connections with a request that is under way until the server gets SIGUSR2. */
    async function held(count: number): Promise<Wire[]> {
      output = '';
      const wires = Array.from({ length: count }, () => new Wire(port, 'GET /held HTTP/1.1\r\nHost: inlet\r\n\r\n'));
      await eventually(() => expect(output.match(/held/g)).toHaveLength(count));
      return wires;
    }

    test.each([
      ['says nothing', ''],
      ['does not finish its headers', 'GET / HTTP/1.1\r\nHost: inlet\r\n'],
      ['has had its answer and asks no more', HELLO],
    ])('ends a connection that %s', async (_name, sent) => {
      await new Wire(port, sent).ended;
    });

    test('leaves a handler the time it takes', async () => {
      const wire = new Wire(port, 'GET /slow?ms=1500 HTTP/1.1\r\nHost: inlet\r\nConnection: close\r\n\r\n');
      await wire.ended;
      expect(wire.received).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('ends a connection whose client takes nothing of its answer', async () => {
      const wire = new Wire(port, 'GET /long HTTP/1.1\r\nHost: inlet\r\n\r\n');
      await wire.answered();
      wire.socket.pause();
      await eventually(() => expect(output).toContain('gave up'));
      wire.socket.resume();
      await wire.ended;
      expect(wire.received.length).toBeLessThan(64 * 2 ** 20);
    });

    test.each([
      ['of a length', `Content-Length: ${2 ** 30}\r\n`],
      ['in chunks', 'Transfer-Encoding: chunked\r\n'],
    ])('lets a client that is still sending a body %s read its refusal, and then ends', async (_name, header) => {
      const wire = new Wire(port, `POST /refuse HTTP/1.1\r\nHost: inlet\r\n${header}\r\n`);
      await once(wire.socket, 'connect');
      const sending = setInterval(() => wire.socket.write('8\r\n12345678\r\n'.repeat(5_000)), 10);
      onTestFinished(() => clearInterval(sending));
      await wire.ended;
      expect(wire.received).toMatch(/^HTTP\/1\.1 413 .*Connection: close.*Too much\.$/s);
    });

    test.each([
      ['POST /read', /^HTTP\/1\.1 100 .*HTTP\/1\.1 400 .*The chunks of the request are too small\.$/s],
      ['POST /refuse', /^HTTP\/1\.1 413 /],
      ['GET /', /^HTTP\/1\.1 200 /],
    ])('ends a connection of endless tiny chunks (%s)', async (line, answer) => {
      const headers = 'Host: inlet\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n';
      const wire = new Wire(port, `${line} HTTP/1.1\r\n${headers}\r\n`);
      await wire.answered();
      const chunks = '1\r\nx\r\n'.repeat(1_000);
      const sending = setInterval(() => wire.socket.write(chunks), 1);
      onTestFinished(() => clearInterval(sending));
      await wire.ended;
      expect(wire.received).toMatch(answer);
    });

    test('gives up the connections that are longest without a request when there are too many', async () => {
      const [busy] = await held(1);
      const waiting = Array.from({ length: LIMITS.connections - 1 }, () => new Wire(port, 'GET / HTTP/1.1\r\n'));
      await Promise.all(waiting.map(({ socket }) => once(socket, 'connect')));
      const late = new Wire(port, HELLO);
      expect(await late.answered()).toMatch(/^HTTP\/1\.1 200 /);
      child.kill('SIGUSR2');
      expect(await busy?.answered()).toMatch(/^HTTP\/1\.1 200 /);
    });

    test('refuses a connection when there is a request on every other', async () => {
      const busy = await held(LIMITS.connections);
      const late = new Wire(port, HELLO);
      await late.ended;
      expect(late.received).toMatch(/^HTTP\/1\.1 503 /);
      child.kill('SIGUSR2');
      for (const wire of busy) expect(await wire.answered()).toMatch(/^HTTP\/1\.1 200 /);
      expect(await new Wire(port, HELLO).answered()).toMatch(/^HTTP\/1\.1 200 /);
    });
  });
}
