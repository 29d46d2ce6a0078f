import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clipFolder, testTools } from './clips.ts';

export type HeldEncoder = Awaited<ReturnType<typeof createHeldEncoder>>;

/** ffmpeg, except that encoding a picture waits while a test holds it: a long recording without the long. */
export async function createHeldEncoder() {
  const program = join(clipFolder(), `ffmpeg-${randomUUID()}`);
  const held = `${program}.held`;
  const { ffmpeg } = await testTools();
  const script = `#!/bin/sh
case "$*" in *libx264*) while [ -e '${held}' ]; do /bin/sleep 0.1; done ;; esac
exec '${ffmpeg}' "$@"
`;
  await writeFile(program, script, { mode: 0o755 });
  return {
    env: { FFMPEG_PATH: program },
    hold: () => writeFile(held, ''),
    release: () => rm(held, { force: true }),
  };
}
