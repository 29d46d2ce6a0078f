/** Where a medium is or will be as soon as it can, in seconds. */
export interface Seeker {
  place: () => number;
  goTo: (seconds: number) => void;
}

/**
 * Takes a medium to places one at a time: Chromium, asked for another place while it is on its way to one, now and then
 * never arrives. Of those asked for meanwhile the last one counts; one that cannot be reached holds up nobody for long.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function seeker(media: HTMLMediaElement): Seeker {
  const PATIENCE_MS = 1000;
  let next: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const leave = () => {
    clearTimeout(timer);
    if (next !== undefined) media.currentTime = next;
    next = undefined;
  };
  media.addEventListener('seeked', () => {
    // It may have left again before this was told.
    if (!media.seeking) leave();
  });
  return {
    place: () => next ?? media.currentTime,
    goTo(seconds) {
      const waiting = next !== undefined;
      next = seconds;
      if (!media.seeking) leave();
      else if (!waiting) timer = setTimeout(leave, PATIENCE_MS);
    },
  };
}
