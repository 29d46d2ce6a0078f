import { eventually } from '../../../test/support/eventually.ts';

/** Looks again and again until nothing is found, for at most so many milliseconds. @returns what was found last */
export async function foundAfter(look: () => Promise<string[]>, timeoutMs: number): Promise<string[]> {
  let found: string[] | undefined;
  const findNothing = async () => {
    found = await look();
    if (found.length > 0) throw new Error('something is found');
  };
  return eventually(findNothing, timeoutMs, 1_000).then(
    () => [],
    (error) => found ?? [`it could not be looked for: ${error}`],
  );
}
