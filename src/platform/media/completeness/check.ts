import type { FileHandle } from 'node:fs/promises';
import { MediaFailure } from '../tools/failure.ts';
import { checkAsf } from './asf.ts';
import { checkAiff, checkCaf, checkRiff } from './chunks.ts';
import type { Check } from './finding.ts';
import { checkFlac } from './flac.ts';
import { checkFlv } from './flv.ts';
import { checkDv, checkFrames } from './frames.ts';
import { checkIso } from './iso.ts';
import { checkMatroska } from './matroska.ts';
import { checkMp3 } from './mp3.ts';
import { checkMxf } from './mxf.ts';
import { checkOgg } from './ogg.ts';
import { checkProgramStream } from './program-stream.ts';
import { checkTransportStream } from './transport-stream.ts';

/** How to see the end of what a demuxer reads. AMR has nothing that could be told from the end. */
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
 * Compares what a file says of its own length with what is there. The tools accept a file that was cut short and
 * process what they find.
 *
 * @param size of the file in bytes
 * @returns a sentence for people when the file may be incomplete but does not say so for sure
 * @throws {MediaFailure} permanent when it is incomplete
 */
export async function checkComplete(
  file: FileHandle,
  size: number,
  demuxer: string,
): Promise<string | undefined> {
  const finding = await CHECKS[demuxer]?.(file, size);
  if (finding?.certain) throw new MediaFailure(finding.message, { permanent: true });
  return finding?.message;
}
