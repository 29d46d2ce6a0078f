export { parseFilters } from './filter-grammar.ts';
export { endOf, equals, type Filter, holds, isOneOf, mentions, parseWords, utcInstant } from './filters.ts';
export { answerList } from './list-answer.ts';
export { PageQuery, wholeListHeaders } from './page.ts';
export { filterHelp, listHeaders, sortParameter } from './parameters.ts';
export { type ListedResource, listingOf, UNKNOWN_FILTER } from './resource.ts';
export { parseSort, type Sorts, UNKNOWN_SORT } from './sorts.ts';
