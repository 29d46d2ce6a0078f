/** The one demuxer that may read files of a media type. */
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
 * The demuxer ffmpeg must be told to use, so that it never chooses one itself: among those it would try are
 * playlists and scripts that make it open other files and hosts.
 */
export function demuxerFor(mediatype: string): string | undefined {
  return Object.hasOwn(DEMUXERS, mediatype) ? DEMUXERS[mediatype] : undefined;
}
