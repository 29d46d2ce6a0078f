/** What holds up to a place of a stream, exclusively. */
export interface Stretch {
  until: number;
  /** An expression of ffmpeg's. */
  value: string;
}

/**
 * An expression that is the value of the stretch `variable` lies in, and that of the last one behind it. It is searched
 * by halves: a thousand stretches cost ten comparisons, and no evaluation goes deeper.
 */
export function piecewise(variable: string, stretches: readonly Stretch[]): string {
  const middle = Math.ceil(stretches.length / 2);
  const [head, tail] = [stretches.slice(0, middle), stretches.slice(middle)];
  const border = head.at(-1);
  if (tail.length === 0 || !border) return border?.value ?? '0';
  return `if(lt(${variable},${plain(border.until)}),${piecewise(variable, head)},${piecewise(variable, tail)})`;
}

/** A number without exponent, to a millionth. */
export function plain(value: number): string {
  return String(Number(value.toFixed(6)));
}
