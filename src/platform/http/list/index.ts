export { respondWithList } from './list-answer.ts';
export { PageQuery, wholeListHeaders } from './list-page.ts';
export * from './listed-resource.ts';
