import { followUpdates } from './live.browser.ts';

/** Sent as the text that the runtime has of it, types taken out. */
export const LIVE_SCRIPT = `(${followUpdates})();`;
