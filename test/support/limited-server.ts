/**
 * Serves with limits that a test need not wait for: `limited-server.ts PORT LIMITS`, LIMITS as JSON. It tells of each
 * request for /held, and answers them when it gets SIGUSR2.
 */
import { EventEmitter, once } from 'node:events';
import { serve } from '#platform/http/server/serve.ts';

const [port, limits = '{}'] = process.argv.slice(2);

const releases = new EventEmitter();
releases.setMaxListeners(0);

/** 64 MiB, and a line on standard output when the server gives them up. */
function long(): ReadableStream<Uint8Array> {
  let left = 1_024;
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(2 ** 16));
      else controller.close();
    },
    cancel: () => console.log('gave up'),
  });
}

const server = await serve(
  async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/long') return new Response(long());
    if (pathname === '/slow') await new Promise((resolve) => setTimeout(resolve, Number(searchParams.get('ms'))));
    if (pathname === '/held') {
      console.log('held');
      await once(releases, 'release');
    }
    if (pathname === '/read') for await (const _ of request.body ?? []);
    if (pathname === '/refuse') return new Response('Too much.', { status: 413 });
    return new Response('Hello.');
  },
  { host: '127.0.0.1', port: Number(port) },
  JSON.parse(limits),
);
process.on('SIGUSR2', () => releases.emit('release'));
process.on('SIGTERM', () => server.close());
console.log('listening');
