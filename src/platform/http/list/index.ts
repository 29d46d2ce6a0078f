export { respondWithList } from './list-answer.ts';
export { listDeclaration } from './list-declaration.ts';
export { PageQuery, wholeListHeaders } from './list-page.ts';
export * from './listed-resource.ts';
