export { respondWithList } from './list-answer.ts';
export { PageQuery, wholeListHeaders } from './page.ts';
export * from './resource.ts';
