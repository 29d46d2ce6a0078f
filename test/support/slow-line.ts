import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const TICK_MS = 20;

/** A line to a server over which clients together send so many bytes a second. */
export interface SlowLine {
  url: string;
  /** Where it leads, also for connections that there are to be. */
  to(url: string): void;
  /** Nothing of what clients send goes through. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export async function startSlowLine(bytesPerSecond: number): Promise<SlowLine> {
  const sockets = new Set<Socket>();
  let target: URL | undefined;
  let paused = false;
  let allowed = 0;
  const tick = setInterval(() => {
    allowed = Math.min(allowed + (bytesPerSecond * TICK_MS) / 1000, bytesPerSecond / 5);
  }, TICK_MS);
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const send = async (near: Socket, far: Socket) => {
    let onward = () => {};
    far.on('drain', () => onward()).on('close', () => onward());
    for await (const chunk of near) {
      while (paused || allowed <= 0) await pause(TICK_MS);
      allowed -= chunk.length;
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: (url) => {
      target = new URL(url);
    },
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    stop: async () => {
      clearInterval(tick);
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
