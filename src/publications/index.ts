export { publicationJson } from './json.ts';
export {
  isAddressable,
  type PublicationAddresses,
  presentationOf,
  publicationsJson,
} from './presentation.ts';
export { publicationsOfEvents } from './queries.ts';
export { type FileToServe, OUTSIDE_FILE, STORAGE_AWAY, serveFile } from './serve-file.ts';
