import { adjustAppearance } from './appearance.browser.ts';
import { showCaptions } from './captions.browser.ts';
import { clock } from './clock.ts';
import { controlBar } from './controls.browser.ts';
import { keyboard } from './keyboard.browser.ts';
import { seeker } from './seeker.browser.ts';
import { synchronise } from './synchronise.browser.ts';
import { timelinePreview } from './timeline.browser.ts';

/**
 * What the watch page runs. The functions are written and checked like all others and sent as the text the runtime has
 * of them, types taken out: no build step, and no file to be read when serving.
 */
export const SCRIPT = `(() => {
const clock = ${clock};
const seeker = ${seeker};
(${adjustAppearance})();
for (const player of document.querySelectorAll('[data-player]')) {
(${synchronise})(player);
(${controlBar})(player, clock, seeker);
(${showCaptions})(player);
(${keyboard})(player, clock);
(${timelinePreview})(player, clock);
}
})();`;
