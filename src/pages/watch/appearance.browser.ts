/**
 * Fits the page to what only the browser knows: pictures side by side get the same height whatever their proportions,
 * and dates are told in the viewer's time zone.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function adjustAppearance(): void {
  for (const video of document.querySelectorAll('video')) {
    const adjust = () => {
      if (video.videoHeight > 0) video.style.flexGrow = String(video.videoWidth / video.videoHeight);
    };
    video.addEventListener('loadedmetadata', adjust);
    adjust();
  }
  for (const time of document.querySelectorAll('time[datetime*="T"]')) {
    const date = new Date(time.getAttribute('datetime') ?? '');
    time.textContent = date.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' });
  }
}
