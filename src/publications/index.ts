export { publicationJson } from './json.ts';
export {
  isAddressable,
  type PublicationAddresses,
  presentationOf,
  publicationsJson,
} from './presentation.ts';
export { publicationsOfEvents } from './queries.ts';
export { RANGE_NOT_SATISFIABLE, type ServedFile, STORAGE_UNAVAILABLE, serveFile } from './serve-file.ts';
