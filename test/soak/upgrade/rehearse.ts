import type { Cleanup } from '../../bench/support/cleanup.ts';
import type { SoakOptions } from '../options.ts';
export async function rehearse(_o: SoakOptions, _say: (t: string) => void, _c: Cleanup): Promise<boolean> {
  return false;
}
