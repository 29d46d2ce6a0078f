import { sizeOf, spanOf } from '../frame/words.ts';

/** A grid line and its label. */
export interface Tick {
  value: number;
  text: string;
}

/** Maps values to heights in a plot. */
export interface Scale {
  /** From the lowest up. */
  ticks: readonly Tick[];
  isLogarithmic: boolean;
  /** From 0 at the bottom to 1 at the top. */
  heightOf(value: number): number;
}

const MOST_STEPS = 4;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

const times = (factors: readonly number[], units: readonly number[]) =>
  units.flatMap((unit) => factors.map((factor) => factor * unit));
const powers = (base: number, count: number) => Array.from({ length: count }, (_, i) => base ** i);

/** The steps between grid lines and the format of the labels, by unit. */
const UNITS = {
  count: { steps: times([1, 2, 5], powers(10, 15)), text: (n: number) => n.toLocaleString('en') },
  bytes: { steps: times([1, 2, 5, 10, 20, 50, 100, 200, 500], powers(1024, 6)), text: roundSize },
  ms: {
    steps: [
      ...times([1, 2, 5], [1, 10, 100]),
      ...times([1, 2, 5, 10, 15, 30], [SECOND, MINUTE]),
      ...times([1, 2, 5, 10, 20, 50], [HOUR, 100 * HOUR, 10_000 * HOUR]),
    ],
    text: roundSpan,
  },
} as const;

/** The grid lines of a logarithmic scale of durations. */
const DECADES: readonly Tick[] = [
  { value: 1, text: '1 ms' },
  { value: 10, text: '10 ms' },
  { value: 100, text: '100 ms' },
  { value: SECOND, text: '1 s' },
  { value: 10 * SECOND, text: '10 s' },
  { value: MINUTE, text: '1 min' },
  { value: 10 * MINUTE, text: '10 min' },
  { value: HOUR, text: '1 h' },
  { value: 10 * HOUR, text: '10 h' },
  { value: 100 * HOUR, text: '100 h' },
  { value: 1_000 * HOUR, text: '1000 h' },
  { value: 10_000 * HOUR, text: '10000 h' },
  { value: 100_000 * HOUR, text: '100000 h' },
];
/** The ratio of durations from which on the scale is logarithmic. */
const WIDE = 20;

/** Makes a scale from zero to a round number that is not less than the largest value. */
export function linearScale(largest: number, unit: keyof typeof UNITS): Scale {
  const { steps, text } = UNITS[unit];
  const step = steps.find((each) => largest / each <= MOST_STEPS) ?? largest / MOST_STEPS;
  const count = Math.max(1, Math.ceil(largest / step));
  const top = count * step;
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => ({ value: i * step, text: text(i * step) })),
    isLogarithmic: false,
    heightOf: (value) => Math.min(1, Math.max(0, value / top)),
  };
}

/** Makes a scale of durations in milliseconds, which is logarithmic when they differ widely. */
export function lengthScale(lengths: readonly number[]): Scale {
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];
  if (longest <= WIDE * shortest) return linearScale(longest, 'ms');
  const first = Math.max(
    0,
    DECADES.findLastIndex(({ value }) => value <= shortest),
  );
  const last = DECADES.findIndex(({ value }) => value >= longest);
  const ticks = DECADES.slice(first, last < 0 ? undefined : last + 1);
  const [low, high] = [Math.log(ticks[0]?.value ?? 1), Math.log(ticks.at(-1)?.value ?? 1)];
  const heightOf = (value: number) =>
    value <= 0 ? 0 : Math.min(1, Math.max(0, (Math.log(value) - low) / (high - low)));
  return { ticks, isLogarithmic: true, heightOf };
}

/** `5 GiB`, for whole numbers. */
function roundSize(bytes: number): string {
  return bytes === 0 ? '0' : sizeOf(bytes).replace('.0 ', ' ');
}

/** `5 s`, for whole numbers. */
function roundSpan(ms: number): string {
  return ms === 0 ? '0' : spanOf(ms).replace('.0 ', ' ');
}
