import { eventually } from '../../../test/support/eventually.ts';

/** Looks again and again until nothing is found, for at most so many milliseconds. @returns what is found then */
export async function foundAfter(look: () => Promise<string[]>, timeoutMs: number): Promise<string[]> {
  const findNothing = async () => {
    if ((await look()).length > 0) throw new Error('something is found');
  };
  await eventually(findNothing, timeoutMs, 1_000).catch(() => undefined);
  return look();
}
