import { focusCards, showCard } from './recording-cards.js';
import { api, queue, transfers } from './session.js';
import { openSignIn } from './sign-in-dialog.js';

const KEEP_ALIVE_MS = 240_000;

queue.onChange = showCard;
queue.onSignedOut = openSignIn;
queue.restore();

// The focused element may be hidden now.
document.querySelector('dialog')?.addEventListener('close', focusCards);
addEventListener('online', () => transfers.retryNow());
addEventListener('visibilitychange', () => {
  if (!document.hidden) queue.renewLinks();
});
addEventListener('beforeunload', (event) => {
  if (queue.isBusy()) event.preventDefault();
});
// A session expires without requests, and an upload may be one request for hours.
setInterval(() => {
  if (queue.isBusy()) api.checkAccount().catch(({ status }) => status === 401 && openSignIn());
}, KEEP_ALIVE_MS);
