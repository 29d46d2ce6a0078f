import { findOldFile, type OldFile } from '#maintenance/import/old-files.queries.ts';
import type { AnswerUnknown } from '#platform/http/app/error-handler.ts';
import { elementUrl } from '#publications/publication.ts';
import type { PublicationAddresses } from '#publications/publication-json.ts';
import type { RecordingServices } from './open-recording.ts';

/** Longer paths are not remembered. */
const MAX_PATH = 2000;
/** A file in a folder. Other unknown addresses are not looked up. */
const FILE = /^\/[^/]+\/.*\.[A-Za-z0-9]{2,5}$/;

/** Redirects the addresses that imported files had at another server, which no endpoint has. */
export function oldFiles({ config, database, addresses }: RecordingServices): AnswerUnknown {
  return async (c) => {
    const { pathname } = new URL(c.req.url);
    const isFile = ['GET', 'HEAD'].includes(c.req.method) && pathname.length <= MAX_PATH && FILE.test(pathname);
    const found = isFile ? await findOldFile(database, pathname) : undefined;
    if (!found) return undefined;
    c.header('Cache-Control', 'no-cache');
    return c.redirect(newAddress(found, addresses), config.oldAddressStatus);
  };
}

function newAddress(
  { eventId, publicationId, fileId, filename, isPublic }: OldFile,
  { publicUrl, access }: PublicationAddresses,
) {
  const event = encodeURIComponent(eventId);
  if (publicationId === null) return `${publicUrl}/api/events/${event}/media/${fileId}`;
  // The page checks who may watch, and signs the addresses of its files. Old addresses may be guessed, new ones not.
  if (!isPublic || access === 'signed' || access === 'strict') return `${publicUrl}/play/${event}`;
  return elementUrl(publicUrl, { publication_id: publicationId, id: fileId, filename });
}
