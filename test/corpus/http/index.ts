import { amounts } from './amounts.ts';
import { forms } from './forms.ts';
import { framing } from './framing.ts';
import { headers } from './headers.ts';
import { paths } from './paths.ts';
import { type HostileRequest, startsOf } from './request.ts';
import { targets } from './targets.ts';
import { texts } from './texts.ts';

export { type Met, meet } from './meet.ts';

/** The corpus of hostile requests, of somebody with an account. @param authorization a header's value */
export function hostileRequests(authorization: string): HostileRequest[] {
  const starts = startsOf(authorization);
  return [framing, targets, paths, headers, amounts, forms, texts].flatMap((requests) => requests(starts));
}
