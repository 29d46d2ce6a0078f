import type { Span } from '#statistics/trends.queries.ts';
import type { Slot } from '#statistics/trends.ts';
import { minuteOf } from '../frame/words.ts';
import type { Place } from './plot.ts';

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const MONDAY = 1;

/** What the hours of a day, or the days of a month, are called, and which of these names stand below a plot. */
export function placesOf(span: Span, slots: readonly Slot[]): Place[] {
  return slots.map(({ start }) => {
    const [date = '', time = ''] = minuteOf(start).split(' ');
    if (span === 'month') {
      const tick = start.getUTCDay() === MONDAY ? DAY.format(start) : undefined;
      return { name: date, tick, isMinor: false };
    }
    const hour = start.getUTCHours();
    return {
      name: `${date} ${time}`,
      tick: hour % 3 === 0 ? time : undefined,
      isMinor: hour % 6 !== 0,
    };
  });
}
