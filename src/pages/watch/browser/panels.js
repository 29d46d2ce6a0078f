/** @import { PlayerParts } from './player-parts.js' */

/** Opens and closes the panels of buttons that control one. @param {PlayerParts} parts */
export function addPanels({ player }) {
  const buttons = [...player.querySelectorAll('button[aria-controls]')].filter((each) => each instanceof HTMLElement);
  const panelOf = (/** @type {HTMLElement} */ button) => {
    const panel = document.getElementById(button.getAttribute('aria-controls') ?? '');
    if (!panel) throw new Error('The button controls no panel.');
    return panel;
  };
  const show = (/** @type {HTMLElement | undefined} */ opened) => {
    for (const button of buttons) {
      panelOf(button).hidden = button !== opened;
      button.setAttribute('aria-expanded', String(button === opened));
    }
  };
  const isOpen = (/** @type {HTMLElement} */ button) => !panelOf(button).hidden;
  for (const button of buttons) {
    button.addEventListener('click', () => {
      if (isOpen(button)) return show(undefined);
      show(button);
      panelOf(button).dispatchEvent(new Event('open'));
    });
  }
  document.addEventListener('keydown', (event) => {
    const opened = buttons.find(isOpen);
    if (event.key !== 'Escape' || !opened) return;
    if (panelOf(opened).contains(document.activeElement)) opened.focus();
    show(undefined);
  });
  document.addEventListener('pointerdown', ({ target }) => {
    const opened = buttons.find(isOpen);
    if (!opened || !(target instanceof Node)) return;
    if (!panelOf(opened).contains(target) && !opened.contains(target)) show(undefined);
  });
}
