/**
 * Measures several things in turn, again and again, so that what else the machine does meets all of them alike.
 *
 * @returns the samples of each, in the order of the rounds
 */
export async function alternate<Name extends string>(
  rounds: number,
  measurements: Record<Name, () => Promise<number>>,
  onRound: (round: number) => void = () => undefined,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(measurements) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const name of names) samples[name].push(await measurements[name]());
  }
  return samples;
}
