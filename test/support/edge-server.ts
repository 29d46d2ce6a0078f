/** Serves the fetch handler for other runtimes with a server that it does not know: `node edge-server.ts PORT`. */
import type { IncomingMessage } from 'node:http';
import { serve } from '@hono/node-server';
import edge from '../../src/edge.ts';

serve({
  fetch: (request, env) => {
    const { incoming } = env as { incoming: IncomingMessage };
    return edge.fetch(request, { remoteAddress: incoming.socket.remoteAddress });
  },
  hostname: '0.0.0.0',
  port: Number(process.argv[2]),
});
