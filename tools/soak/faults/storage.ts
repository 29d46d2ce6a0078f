import type { TestS3 } from '../../../test/support/s3.ts';
import type { S3Between } from '../../../test/support/s3-between.ts';
import type { Fault } from '../plan.ts';

/** Of so many requests one is met by what is not to hit all. */
const ONE_OF = 3;

/** What happens to an S3 server, and to single requests on their way there. */
export function storageFaults(s3: TestS3, between: S3Between): Fault[] {
  const fault = (what: string, begin: () => unknown, end: () => unknown): Fault => ({
    name: `S3 ${what}`,
    kind: `S3 ${what}`,
    target: 's3',
    begin,
    end,
  });
  const pass = () => {
    between.fate = () => 'pass';
    // Those that were cut are never performed.
    between.cut.splice(0);
  };
  const each = (what: string, fate: ReturnType<S3Between['fate']>) => {
    let requests = 0;
    const begin = () => {
      between.fate = () => {
        requests += 1;
        return requests % ONE_OF === 0 ? fate : 'pass';
      };
    };
    return fault(what, begin, pass);
  };
  const slowDown = { status: 503, code: 'SlowDown' };
  return [
    fault(
      'refuses',
      () => s3.refuse(),
      () => s3.accept(),
    ),
    fault(
      'stands still',
      () => s3.pause(),
      () => s3.resume(),
    ),
    fault(
      'is killed',
      () => s3.kill(),
      () => s3.restart(),
    ),
    fault('answers 503 SlowDown', () => (between.fate = () => slowDown), pass),
    each('answers 503 SlowDown now and then', slowDown),
    each('cuts requests', 'cut'),
    each('loses answers', 'lose'),
    each('stalls requests', 'silence'),
  ];
}
