const REFRESH_MS = 60_000;
/** Players that differ by less, in seconds, play the same. */
const TOLERANCE = 0.3;

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('form[data-lock]'));
const players = /** @type {HTMLMediaElement[]} */ ([...document.querySelectorAll('video, audio')]);

if (form) {
  for (const input of form.querySelectorAll('input')) if (input.type !== 'hidden') addPositionButton(input);
  holdLock(form);
}
for (const player of players) {
  for (const other of players) if (other !== player) follow(other, player);
}

/**
 * Adds a button that fills in the position of the player.
 *
 * @param {HTMLInputElement} input
 */
function addPositionButton(input) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet';
  button.textContent = 'Use position';
  button.setAttribute('aria-label', `${button.textContent}: ${input.getAttribute('aria-label')}`);
  button.addEventListener('click', () => {
    input.value = formatClock(players[0]?.currentTime ?? 0);
  });
  input.closest('label')?.after(button);
}

/** @param {number} seconds */
function formatClock(seconds) {
  const ms = Math.round(seconds * 1000);
  const pad = (/** @type {number} */ value, digits = 2) => String(Math.floor(value)).padStart(digits, '0');
  return `${Math.floor(ms / 3_600_000)}:${pad((ms / 60_000) % 60)}:${pad((ms / 1000) % 60)}.${pad(ms % 1000, 3)}`;
}

/**
 * Refreshes the lock, and releases it when the page is left in another way than by its buttons.
 *
 * @param {HTMLFormElement} form
 */
function holdLock(form) {
  const url = form.dataset.lock ?? '';
  const uuid = String(new FormData(form).get('uuid'));
  const send = (/** @type {string} */ to, /** @type {RequestInit} */ init) =>
    void fetch(to, { ...init, keepalive: true }).catch(() => undefined);
  const refresh = () => send(url, { method: 'POST', body: new URLSearchParams({ uuid }) });
  const release = () => send(`${url}/${uuid}`, { method: 'DELETE' });
  // The page before, such as this one before a reload, may have released it since.
  refresh();
  setInterval(refresh, REFRESH_MS);
  addEventListener('pagehide', release);
  form.addEventListener('submit', () => removeEventListener('pagehide', release));
}

/**
 * Makes a player do the same as another one.
 *
 * @param {HTMLMediaElement} player
 * @param {HTMLMediaElement} leader
 */
function follow(player, leader) {
  leader.addEventListener('play', () => void player.play().catch(() => undefined));
  leader.addEventListener('pause', () => player.pause());
  leader.addEventListener('seeking', () => {
    if (Math.abs(player.currentTime - leader.currentTime) > TOLERANCE) player.currentTime = leader.currentTime;
  });
}
