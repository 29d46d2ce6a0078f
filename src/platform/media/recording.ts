import { openBytes } from './byte-source.ts';
import { checkComplete } from './completeness/completeness.ts';
import { detectMediaType, HEAD_BYTES } from './media-type.ts';
import { MediaFailure } from './tools/media-failure.ts';

/** The demuxer for each media type. */
const DEMUXERS: Readonly<Record<string, string>> = {
  'video/mp4': 'mov',
  'audio/mp4': 'mov',
  'video/quicktime': 'mov',
  'video/3gpp': 'mov',
  'video/3gpp2': 'mov',
  'video/webm': 'matroska',
  'video/x-matroska': 'matroska',
  'video/mp2t': 'mpegts',
  'video/mpeg': 'mpeg',
  'video/x-msvideo': 'avi',
  'video/x-flv': 'flv',
  'video/x-ms-asf': 'asf',
  'video/ogg': 'ogg',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/aiff': 'aiff',
  'audio/flac': 'flac',
  'audio/mpeg': 'mp3',
  'audio/aac': 'aac',
  'audio/ac3': 'ac3',
  'audio/eac3': 'eac3',
  'audio/amr': 'amr',
  'audio/x-caf': 'caf',
  'application/mxf': 'mxf',
  'video/x-dv': 'dv',
};

/**
 * Returns the demuxer that ffmpeg must use. It never chooses one itself, because playlists and scripts could make it
 * open other files and hosts.
 */
export function demuxerFor(mediatype: string): string | undefined {
  return Object.hasOwn(DEMUXERS, mediatype) ? DEMUXERS[mediatype] : undefined;
}

/** A file in a known media format. */
export interface Recording {
  /** The path of the file, or the address of an object in a `RangeReader`. */
  path: string;
  /** Bytes. */
  size: number;
  mediatype: string;
  /** The only demuxer that tools may use. */
  demuxer: string;
  /** Sentences for people about possible damage; the recording is processed anyway. */
  warnings: string[];
}

/**
 * Identifies a recording by its bytes.
 *
 * @param path a path, or an address of a `RangeReader`
 * @throws {MediaFailure} permanent when it is not a recording or incomplete
 */
export async function recognize(path: string): Promise<Recording> {
  const file = await openBytes(path).catch((cause: unknown) => {
    throw new MediaFailure('The file cannot be opened.', { permanent: false, cause });
  });
  try {
    const { size } = file;
    if (size === 0) throw new MediaFailure('The file is empty.', { permanent: true });
    const head = Buffer.alloc(Math.min(size, HEAD_BYTES));
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const mediatype = detectMediaType(head.subarray(0, bytesRead));
    const demuxer = demuxerFor(mediatype);
    if (!demuxer) {
      const message = 'The file is not a recording: its bytes match no known media format.';
      throw new MediaFailure(message, { permanent: true });
    }
    const warning = await checkComplete(file, size, demuxer);
    return { path, size, mediatype, demuxer, warnings: warning ? [warning] : [] };
  } finally {
    await file.close();
  }
}
