import type { NewTrack } from '../../events/tracks.ts';

const UNKNOWN_TYPE = 'application/octet-stream';
/** What their flavor promises counts where nobody knows the type. */
const RECORDINGS = ['presenter/source', 'presentation/source', 'presenter-audio/source'];

/** Whether a track is to be seen or heard, as the database decides it (sql/0012). */
export function isMedia({ flavor, mediatype }: Pick<NewTrack, 'flavor' | 'mediatype'>): boolean {
  if (flavor.startsWith('captions/')) return false;
  if (/^(audio|video)\//.test(mediatype) || mediatype === 'application/mxf') return true;
  return mediatype === UNKNOWN_TYPE && RECORDINGS.includes(flavor);
}
