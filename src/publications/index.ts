export { publicationJson } from './json.ts';
export { publicationsOfEvents } from './queries.ts';
