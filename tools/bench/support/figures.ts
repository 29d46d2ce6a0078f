/** How a figure is written. Rates are bytes per second, sizes bytes, times milliseconds, unless they are seconds. */
export type Unit = 'rate' | 'bytes' | 'seconds' | 'ms' | 'fine ms' | 'per second' | 'ratio' | 'count';

/** One figure of a table, measured several times. */
export interface Figure {
  unit: Unit;
  samples: number[];
  /** What is aimed for; judged by the median. */
  aim?: { atLeast: number } | { atMost: number };
}

/** A line of a table: what was measured, and figures by the name of their column. */
export interface Row {
  label: string;
  figures: Record<string, Figure>;
}

/** What one comparison has found. */
export interface Table {
  name: string;
  title: string;
  /** What the columns mean, for somebody who did not write the benchmark. */
  notes: string[];
  rows: Row[];
}

export interface Summary {
  median: number;
  min: number;
  max: number;
}

export function summary(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (low + high) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** Whether the median reaches the aim; undefined without one. */
export function reached({ aim, samples }: Figure): boolean | undefined {
  if (!aim) return undefined;
  const { median } = summary(samples);
  return 'atLeast' in aim ? median >= aim.atLeast : median <= aim.atMost;
}

/** Pairs of the same round divided: what happened to the machine in that round happened to both. */
export function ratios(dividends: readonly number[], divisors: readonly number[]): number[] {
  return dividends.map((dividend, round) => dividend / (divisors[round] ?? Number.NaN));
}
