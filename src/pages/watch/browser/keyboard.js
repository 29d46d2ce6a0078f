/** @import { PlayerParts } from './player-parts.js' */
import { clock } from './clock.js';
import { findPart } from './player-parts.js';
import { storedPreference, storePreference } from './preference.js';

const STORED_AS = 'shortcuts';

/**
 * Adds the usual keys of video players to the whole page. They operate the controls of the player, and announce to screen
 * readers what changes. Viewers can switch them off: those who speak to their device press keys by accident.
 *
 * @param {PlayerParts} parts
 */
export function addKeys(parts) {
  const { once, repeatable } = keyActions(parts);
  const shortcuts = findPart(parts.player, 'shortcuts', HTMLInputElement);
  shortcuts.checked = storedPreference(STORED_AS) !== 'off';
  shortcuts.addEventListener('change', () => storePreference(STORED_AS, shortcuts.checked ? 'on' : 'off'));
  document.addEventListener('keydown', (event) => {
    if (!shortcuts.checked || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const isOn = (/** @type {string} */ selector) => target instanceof Element && target.matches(selector);
    // Focused controls handle these keys.
    if (isOn('select, input[readonly], input[type="checkbox"]') || (isOn('button') && event.key === ' ')) return;
    // With Shift, arrows select text.
    if (event.key.startsWith('Arrow') && (event.shiftKey || isOn('input'))) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = repeatable[key] ?? (event.repeat ? undefined : once[key]);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** @typedef {Record<string, () => void>} Actions */

/**
 * Returns the actions by key: once per press, or repeated while the key is held.
 *
 * @param {PlayerParts} parts
 * @returns {{ once: Actions, repeatable: Actions }}
 */
function keyActions({ player, sound, seek }) {
  const rate = findPart(player, 'rate', HTMLSelectElement);
  const status = findPart(player, 'status', HTMLElement);
  const press = (/** @type {string} */ name) => () => {
    const button = player.querySelector(`[data-part="${name}"]`);
    if (!(button instanceof HTMLButtonElement) || button.hidden) return;
    button.click();
    const pressed = button.getAttribute('aria-pressed');
    if (pressed === null) return;
    status.textContent = `${button.getAttribute('aria-label')}${pressed === 'true' ? ' on' : ' off'}`;
  };
  const goTo = (/** @type {number} */ seconds) => {
    seek.valueAsNumber = seconds;
    seek.dispatchEvent(new Event('input'));
    status.textContent = clock(seek.valueAsNumber);
  };
  const move = (/** @type {number} */ seconds) => () => goTo(seek.valueAsNumber + seconds);
  const changeRate = (/** @type {number} */ step) => () => {
    const option = rate.options[rate.selectedIndex + step];
    if (!option) return;
    rate.selectedIndex += step;
    rate.dispatchEvent(new Event('change'));
    status.textContent = `Speed ${option.text}`;
  };
  const switchSound = () => {
    if (!sound) return;
    press('mute')();
    status.textContent = sound.muted ? 'Sound off' : 'Sound on';
  };
  const changeLayout = () => {
    const layout = player.querySelector('[data-part="layout"]');
    if (!(layout instanceof HTMLSelectElement)) return;
    layout.selectedIndex = (layout.selectedIndex + 1) % layout.options.length;
    layout.dispatchEvent(new Event('change'));
    status.textContent = layout.selectedOptions[0]?.text ?? '';
  };
  /** @type {Actions} */
  const once = {
    ' ': press('play'),
    k: press('play'),
    m: switchSound,
    f: press('fullscreen'),
    c: press('captions'),
    p: press('pip'),
    s: press('swap'),
    v: changeLayout,
  };
  for (let digit = 0; digit <= 9; digit += 1) {
    once[digit] = () => goTo((Number(seek.max) * digit) / 10);
  }
  const repeatable = {
    j: move(-10),
    l: move(10),
    ArrowLeft: move(-5),
    ArrowRight: move(5),
    '<': changeRate(-1),
    '>': changeRate(1),
  };
  return { once, repeatable };
}
