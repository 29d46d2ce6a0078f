/**
 * A position in a recording as people write it: `0:07`, `12:34`, `1:02:03`. Used on the server and, as source text,
 * in the browser; it refers to nothing outside itself.
 */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(Number.isFinite(seconds) ? seconds : 0));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const twoDigits = (n: number) => String(n).padStart(2, '0');
  return `${hours ? `${hours}:${twoDigits(minutes)}` : minutes}:${twoDigits(whole % 60)}`;
}
