export { respondWithList } from './list-answer.ts';
export { listDeclaration, listHeaders, sortParameter } from './list-declaration.ts';
export { decodeCursor, encodeCursor, PageQuery, wholeListHeaders } from './list-page.ts';
export * from './listed-resource.ts';
