import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { listen } from './listen.ts';

const TICK_MS = 20;
/** What a connection that was idle may catch up with. */
const BURST_MS = 200;

/** A line to a server over which each connection sends so many bytes a second. */
export async function startSlowLine(bytesPerSecond: number) {
  const sockets = new Set<Socket>();
  let target: URL | undefined;
  let paused = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const send = async (near: Socket, far: Socket) => {
    let onward = () => {};
    let free = 0;
    far.on('drain', () => onward()).on('close', () => onward());
    for await (const chunk of near) {
      while (paused || performance.now() < free) await pause(TICK_MS);
      free = Math.max(free, performance.now() - BURST_MS) + (chunk.length / bytesPerSecond) * 1000;
      if (far.destroyed) return;
      if (!far.write(chunk))
        await new Promise<void>((resolve) => {
          onward = resolve;
        });
    }
    far.end();
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    keep(near);
    if (!target) return near.destroy();
    const far = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    keep(far);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
    far.pipe(near);
    send(near, far).catch(() => far.destroy());
  });
  return {
    url: await listen(server),
    /** Where it leads, also for connections that there are to be. */
    to: (url: string) => {
      target = new URL(url);
    },
    /** Nothing of what clients send goes through. */
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
