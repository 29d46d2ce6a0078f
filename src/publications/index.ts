export { publicationsOfEvents } from './publication.queries.ts';
export {
  isAddressable,
  type PublicationAddresses,
  presentationOf,
  publicationJson,
  publicationsJson,
} from './publication-json.ts';
export { RANGE_NOT_SATISFIABLE, type ServedFile, STORAGE_UNAVAILABLE, serveFile } from './serve-file.ts';
