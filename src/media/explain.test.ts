import { describe, expect, it } from 'vitest';
import { failureFromLog } from './explain.ts';

const ended = { code: 1, killedBy: null };

describe('failureFromLog', () => {
  it.each([
    [
      '[mov,mp4] moov atom not found\nclip.mp4: Invalid data found when processing input',
      true,
      /index is missing/,
    ],
    ['pipe: Invalid data found when processing input', true, /damaged/],
    ['Decoder (codec none) not found for input stream #0:0', true, /codec/],
    ['av_interleaved_write_frame(): No space left on device', false, /disk .* full/],
    ['clip: No such file or directory', false, /could not open/],
    ['Error: Cannot allocate memory', false, /memory/],
    ["Unknown encoder 'libx264'", false, /libx264/],
  ])('reads %j', (log, permanent, message) => {
    const failure = failureFromLog('ffmpeg', log, ended);
    expect(failure.permanent).toBe(permanent);
    expect(failure.message).toMatch(message);
    expect(failure.log).toBe(log);
  });

  it('quotes the last words of a log it does not know', () => {
    const log = 'something\n[aac] Reserved bit set.\nConversion failed!\n';
    expect(failureFromLog('ffmpeg', log, ended)).toMatchObject({
      message: 'The file cannot be processed: Reserved bit set.',
      permanent: true,
    });
  });

  it('tries again what was killed, but not what crashed', () => {
    expect(failureFromLog('ffmpeg', '', { code: null, killedBy: 'SIGKILL' }).permanent).toBe(false);
    expect(failureFromLog('ffmpeg', 'x: Invalid data found', { code: 255, killedBy: null }).permanent).toBe(
      false,
    );
    expect(failureFromLog('ffprobe', '', { code: null, killedBy: 'SIGSEGV' }).permanent).toBe(true);
  });
});
