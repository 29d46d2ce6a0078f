export { COUNTED, countRows, findPart } from './find-part.ts';
export {
  allOf,
  type Condition,
  type Criterion,
  containsWords,
  type Entry,
  hasValue,
  isAmong,
  type Key,
  type Listing,
  type Order,
  type Part,
  type Position,
  type Slice,
  type Term,
  type Total,
} from './listing.ts';
