export { answerList } from './answer.ts';
export { endOf, equals, type Filter, holds, isOneOf, mentions, utcInstant } from './filters.ts';
export { PageQuery } from './page.ts';
export { type ListedResource, listingOf } from './resource.ts';
export type { Sorts } from './sorts.ts';
