import type { Finding } from '../verify/finding.ts';

/** What has become of a finding: all is well again, will be when a workflow has ended, or has to be done by somebody. */
export interface Outcome {
  finding: Finding;
  state: 'mended' | 'begun' | 'left';
  /** What was done, or what is to be done. */
  note: string;
}
