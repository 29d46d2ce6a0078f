/** How the page writes figures. */
export interface Words {
  size(bytes: number): string;
  /** About how long something takes. */
  time(seconds: number): string;
  percent(share: number): string;
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createWords(): Words {
  const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];
  const plural = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  return {
    size: (bytes) => {
      let size = bytes;
      let unit = 0;
      // What would be rounded to 1000 is 1 of the next unit.
      while (size >= 999.5 && unit < UNITS.length - 1) {
        size /= 1000;
        unit += 1;
      }
      return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
    },
    time: (seconds) => {
      if (seconds < 5) return 'a few seconds';
      if (seconds < 55) return plural(Math.ceil(seconds / 5) * 5, 'second');
      const minutes = Math.ceil(seconds / 60);
      if (minutes < 60) return plural(minutes, 'minute');
      const hours = Math.floor(minutes / 60);
      if (hours >= 48) return plural(Math.round(hours / 24), 'day');
      return minutes % 60 === 0
        ? plural(hours, 'hour')
        : `${plural(hours, 'hour')} and ${plural(minutes % 60, 'minute')}`;
    },
    // Not 100 before all is there.
    percent: (share) => `${Math.floor(Math.max(0, Math.min(1, share)) * 100)} %`,
  };
}
