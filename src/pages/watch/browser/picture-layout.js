/** @import { PlayerParts } from './player-parts.js' */
import { findPart } from './player-parts.js';
import { storedPreference, storePreference } from './preference.js';

const STORED_AS = 'layout';
const LAYOUTS = ['side', 'corner'];

/**
 * Arranges two pictures side by side, or one in the corner of the other, as this browser did before.
 *
 * @param {PlayerParts} parts
 * @param {() => void} onChange
 */
export function addLayouts({ player }, onChange) {
  const screens = findPart(player, 'screens', HTMLElement);
  const videos = [...screens.querySelectorAll('video')];
  if (videos.length !== 2) return;
  const choice = findPart(player, 'layout', HTMLSelectElement);
  const swap = findPart(player, 'swap', HTMLButtonElement);
  let { layout, isSwapped } = storedLayout();
  const show = () => {
    screens.dataset.layout = choice.value = layout;
    screens.toggleAttribute('data-swapped', isSwapped);
    swap.setAttribute('aria-pressed', String(isSwapped));
    for (const video of videos) {
      const isSmall = layout === 'corner' && 'small' in video.dataset !== isSwapped;
      video.classList.toggle('is-small', isSmall);
    }
    onChange();
  };
  const change = () => {
    show();
    storePreference(STORED_AS, `${layout}${isSwapped ? ' swapped' : ''}`);
  };
  choice.addEventListener('change', () => {
    layout = choice.value;
    change();
  });
  swap.addEventListener('click', () => {
    isSwapped = !isSwapped;
    change();
  });
  show();
}

function storedLayout() {
  const [layout = '', swapped] = storedPreference(STORED_AS).split(' ');
  return { layout: LAYOUTS.includes(layout) ? layout : 'side', isSwapped: swapped === 'swapped' };
}
