import { describe, expect, it } from 'vitest';
import { failureFromLog } from './media-failure.ts';

const STREAMS = 'Number of streams exceeds max_streams parameter (100)';
const ended = { code: 1, killedBy: null };
const killed = (killedBy: NodeJS.Signals) => ({ code: null, killedBy });

describe('failureFromLog', () => {
  it.each([
    ['[mov,mp4] moov atom not found\nclip.mp4: Invalid data found when processing input', /index is missing/],
    ['pipe: Invalid data found when processing input', /damaged/],
    ['Decoder (codec none) not found for input stream #0:0', /codec .* convert it to MP4/],
    ['[ogg] CRC mismatch!\nclip: End of file', /a header, but no sound or picture/],
    ['[asf] DRM protected stream detected, decoding will likely fail!', /encrypted/],
    [`${STREAMS}\nCannot allocate memory`, /more than 100 streams/],
  ])('fails for good on %j', (log, message) => {
    const failure = failureFromLog('ffprobe', log, ended);
    expect(failure).toMatchObject({ permanent: true, message: expect.stringMatching(message), log });
  });

  it.each([
    ['Error: Cannot allocate memory', /more memory/],
    ['clip: Input/output error', /could not be read to its end/],
    ['clip: No such file or directory', /could not open/],
  ])('takes %j for a fault of the file when it happens twice', (log, message) => {
    const failure = failureFromLog('ffprobe', log, ended);
    expect(failure).toMatchObject({ permanent: false, attempts: 2, ours: false, log });
    expect(failure.message).toMatch(message);
  });

  it('blames the worker for a full disk where something is written, and only there', () => {
    const log = 'av_interleaved_write_frame(): No space left on device';
    const full = { permanent: false, attempts: 2, ours: false, message: 'The disk of the worker is full.' };
    expect(failureFromLog('ffmpeg', log, ended)).toMatchObject(full);
    expect(failureFromLog('ffprobe', log, ended)).toMatchObject({ permanent: true, ours: false });
    expect(failureFromLog('ffmpeg', "Unknown encoder 'libx264'", ended)).toMatchObject({ attempts: 2 });
  });

  it.each([
    [127, 'ffmpeg: error while loading shared libraries: libx264.so.164: cannot open shared object file'],
    [127, 'ffmpeg: symbol lookup error: ffmpeg: undefined symbol: x, Invalid data found'],
    [126, 'sh: 3: ffmpeg: Permission denied'],
    [127, ''],
  ])('takes exit code %d for a tool that cannot be run here, whatever its log: %j', (code, log) => {
    expect(failureFromLog('ffmpeg', log, { code, killedBy: null })).toMatchObject({
      ...{ permanent: false, ours: true, attempts: undefined, log },
      message: 'ffmpeg could not be started.',
    });
  });

  it('has a sentence for people about an unknown failure, and keeps the words of the tool for operators', () => {
    const log = 'something\n[aac] Reserved bit set.\nclip: UUID: Invalid argument\nConversion failed!\n';
    const message =
      'The file cannot be read: it is damaged or unusual. If a player plays it, convert it to MP4 (H.264 and AAC) and send that.';
    expect(failureFromLog('ffmpeg', log, ended)).toMatchObject({ permanent: true, log, message });
  });

  const exit255 = { code: 255, killedBy: null };
  const again = { permanent: false, attempts: undefined };
  const crash = { message: expect.stringContaining('crash'), log: 'ffprobe was stopped by SIGSEGV' };
  const memory = expect.stringContaining('the machine runs out of memory');
  it.each([
    ['twice after a crash', '', killed('SIGSEGV'), { permanent: false, attempts: 2, ...crash }],
    ['again after a kill', '', killed('SIGKILL'), { ...again, stopped: false, message: memory }],
    ['again after it was stopped', '', killed('SIGTERM'), { ...again, stopped: true }],
    ['again after it stopped', 'x: Invalid data found', exit255, { ...again, stopped: true }],
  ])('tries %s', (_, log, ending, expected) => {
    expect(failureFromLog('ffprobe', log, ending)).toMatchObject(expected);
  });
});
