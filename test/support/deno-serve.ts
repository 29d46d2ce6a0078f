import { fileURLToPath } from 'node:url';
import { denoProgram } from '#cli/runtime.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The API behind the server that Deno brings along, with as little as an edge runtime allows: it may write nothing,
 * start nothing, and read what it is made of. (A library of the log asks for the name of the machine, the client of S3 for
 * that of the system.)
 */
export function denoServe(port: string, options: readonly string[] = []): [program: string, args: string[]] {
  const bare = '--quiet --no-config --no-lock --no-remote --node-modules-dir=manual --no-prompt'.split(' ');
  const sources = ['src', 'node_modules', 'package.json'].map((name) => `${PROJECT}${name}`);
  const reading = `--allow-read=${sources.join(',')}`;
  const allowed = ['--allow-net', '--allow-env', reading, '--allow-sys=hostname,osRelease'];
  const address = ['--host', '127.0.0.1', '--port', port];
  return [denoProgram(), ['serve', ...bare, ...allowed, ...address, ...options, `${PROJECT}src/edge.ts`]];
}
