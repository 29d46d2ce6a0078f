import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locateTools } from '../../../src/platform/media/tools/locate-tools.ts';

/** What a recording says that is to make the tools misbehave whenever they read it. */
export const TROUBLES = [
  'kills-its-worker',
  'hangs',
  'crashes',
  'prints-without-end',
  'tells-without-end',
  'writes-without-end',
] as const;
export type Trouble = (typeof TROUBLES)[number];

const MARK = 'INLET-SOAK-TROUBLE:';
/** Of 256 runs so many are ended from outside, and so many hang for a while: whatever the recording is. */
const ENDED = 4;
const SLOW = 4;

/** An MP4 that does that; players skip what is added. */
export function marked(mp4: Buffer, trouble: Trouble): Buffer {
  const text = `free${MARK}${trouble}\n`;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + text.length);
  return Buffer.concat([mp4, length, Buffer.from(text)]);
}

/**
 * Programs that are ffmpeg and ffprobe most of the time.
 *
 * @returns the variables that name them
 */
export async function misbehavingTools(folder: string): Promise<Record<string, string>> {
  const tools = await locateTools({ ffmpegPath: undefined, ffprobePath: undefined });
  const program = (name: 'ffmpeg' | 'ffprobe') => {
    const path = join(folder, name);
    writeFileSync(path, script(tools[name]), { mode: 0o755 });
    return path;
  };
  return { FFMPEG_PATH: program('ffmpeg'), FFPROBE_PATH: program('ffprobe') };
}

function script(real: string): string {
  return `#!/bin/sh
PATH=/usr/local/bin:/usr/bin:/bin
trouble=
out=
for each in "$@"; do
  case "$each" in
    /*|file:*)
      path=\${each#file:}
      [ -e "$path" ] || out=$path
      if [ -f "$path" ]; then
        found=$(tail -c 200 "$path" | grep -aom1 '${MARK}[a-z-]*')
        [ -n "$found" ] && trouble=\${found#${MARK}}
      fi ;;
  esac
done
case "$trouble" in
  kills-its-worker) kill -KILL "$PPID"; exit 1 ;;
  hangs) exec sleep 100000 ;;
  crashes) kill -SEGV $$ ;;
  prints-without-end) exec yes 'frame=    1 fps=0.0 q=0.0 size=       0kB' ;;
  tells-without-end) exec yes '[mp4 @ 0x1] something is not as it should be' >&2 ;;
  # Probing writes nothing.
  writes-without-end) [ -n "$out" ] && exec dd if=/dev/zero of="$out" bs=64k ;;
esac
roll=$(od -An -N1 -tu1 /dev/urandom)
[ "$roll" -lt ${ENDED} ] && kill -KILL $$
[ "$roll" -ge ${256 - SLOW} ] && sleep 8
exec '${real}' "$@"
`;
}
