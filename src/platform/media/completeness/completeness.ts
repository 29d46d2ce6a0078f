import type { ByteSource } from '../byte-source.ts';
import { MediaFailure } from '../tools/media-failure.ts';
import { checkDv, checkFlac, checkFrames, checkMp3 } from './audio-formats.ts';
import { checkAsf, checkFlv, checkMxf } from './broadcast-formats.ts';
import { checkAiff, checkCaf, checkIso, checkMatroska, checkRiff } from './container-formats.ts';
import { checkOgg, checkProgramStream, checkTransportStream } from './packet-streams.ts';
import type { Check } from './truncation-finding.ts';

/** The check for each demuxer. AMR has none, because nothing marks its end. */
const CHECKS: Readonly<Record<string, Check>> = {
  mov: checkIso,
  matroska: checkMatroska,
  mpegts: checkTransportStream,
  mpeg: checkProgramStream,
  avi: checkRiff,
  wav: checkRiff,
  aiff: checkAiff,
  caf: checkCaf,
  flv: checkFlv,
  asf: checkAsf,
  mxf: checkMxf,
  ogg: checkOgg,
  flac: checkFlac,
  mp3: checkMp3,
  aac: checkFrames,
  ac3: checkFrames,
  eac3: checkFrames,
  dv: checkDv,
};

/**
 * Compares the length that a file declares with its content. Tools accept a truncated file and process what they find.
 *
 * @param size of the file in bytes
 * @returns a sentence for people when the file may be incomplete
 * @throws {MediaFailure} permanent when the file is certainly incomplete
 */
export async function checkComplete(file: ByteSource, size: number, demuxer: string): Promise<string | undefined> {
  const finding = await CHECKS[demuxer]?.(file, size);
  if (finding?.certain) throw new MediaFailure(finding.message, { permanent: true });
  return finding?.message;
}
