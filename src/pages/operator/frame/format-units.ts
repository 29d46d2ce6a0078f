import { clock } from '../../watch/browser/clock.js';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a size: `1.5 GiB`. */
export function sizeOf(bytes: number): string {
  let [size, unit] = [bytes, 0];
  // 1023.95 would be rounded to 1024.0.
  while (size >= 1023.95 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${size.toFixed(1)} ${UNITS[unit]}`;
}

/** Formats a number: `1,234`. */
export function amountOf(count: number): string {
  return count.toLocaleString('en');
}

/** Formats a number of recordings: `1 recording`, `1,234 recordings`. */
export function recordingsText(count: number): string {
  return count === 1 ? '1 recording' : `${amountOf(count)} recordings`;
}

/** Formats an instant in UTC: `2026-11-22 17:05`. */
export function minuteOf(date: Date): string {
  return date.toISOString().slice(0, 16).replace('T', ' ');
}

/** Formats the time since an instant, in the largest unit that fits: `5 min`. Future instants count as now. */
export function ageOf(date: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000);
  if (minutes < 1) return '< 1 min';
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

/** Formats the duration of a recording in milliseconds: `1:02:03`, `12:34`. */
export function clockOf(ms: number): string {
  return clock(Math.round(ms / 1000));
}

/** Formats a span of time in milliseconds: `340 ms`, `4.2 s`, `12 min`, `3.5 h`. */
export function spanOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
