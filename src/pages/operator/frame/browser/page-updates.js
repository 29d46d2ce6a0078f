/** @import { Idiomorph } from 'idiomorph' */

const SOON_MS = 700;
const ANYWAY_MS = 15_000;
const TIMEOUT_MS = 20_000;
const KINDS = [
  ...['workflow.state', 'workflow.deleted', 'operation.state', 'operation.progress', 'event.created'],
  ...['event.changed', 'event.recording', 'event.deleted', 'publication.published', 'agent.state'],
];

/**
 * Keeps the sections with `data-live` up to date: follows the updates while the page is visible, and reloads the page
 * after updates and every 15 seconds. Keeps what the user has opened, focused or typed. Reports when it fails.
 *
 * @param {string} address of the updates
 * @param {HTMLElement} stale reports that the page is out of date
 */
async function keepUpToDate(address, stale) {
  /** @type {EventSource | undefined} */
  let source;
  let upToDate = new Date();
  let reportUpdate = () => {};
  // Older browsers lack Promise.withResolvers.
  const nextUpdate = () =>
    new Promise((resolve) => {
      reportUpdate = () => resolve(undefined);
    });
  let update = nextUpdate();

  const listen = () => {
    // A source that was refused does not reconnect.
    if (source && source.readyState !== EventSource.CLOSED) return;
    source = new EventSource(address);
    for (const kind of KINDS) source.addEventListener(kind, () => reportUpdate());
    source.addEventListener('operation.progress', ({ data }) => showProgress(JSON.parse(data)));
  };
  document.addEventListener('visibilitychange', () => {
    if (isVisible()) {
      listen();
      reportUpdate();
    } else {
      // All windows of a browser share few connections to one server.
      source?.close();
    }
  });
  if (isVisible()) listen();

  for (;;) {
    await Promise.race([update, pause(ANYWAY_MS)]);
    await pause(SOON_MS);
    update = nextUpdate();
    if (!isVisible()) continue;
    const fault = await loadPage().catch(() => 'the server does not answer');
    if (fault === undefined) {
      upToDate = new Date();
      if (isVisible()) listen();
    } else {
      stale.textContent = `Not updated since ${upToDate.toISOString().slice(11, 19)} UTC: ${fault}.`;
    }
    stale.hidden = fault === undefined;
  }
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reloads the page and shows the changes. @returns {Promise<string | undefined>} the reason if that fails */
async function loadPage() {
  const shown = new URL(location.href);
  shown.searchParams.delete('done');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(shown, { headers: { Accept: 'text/html' }, signal });
  if (answer.redirected) {
    location.reload();
    return undefined;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!answer.ok || !fresh.querySelector('main[data-updates]')) {
    return `the server answered ${answer.status}`;
  }
  showChanges(fresh);
  return undefined;
}

/** @param {Document} fresh */
function showChanges(fresh) {
  /** @type {typeof Idiomorph} */
  const { morph } = Reflect.get(globalThis, 'Idiomorph');
  const callbacks = {
    beforeNodeMorphed: (/** @type {Node} */ node) => !isChanged(node),
    beforeAttributeUpdated: (/** @type {string} */ name, /** @type {Node} */ node) =>
      !(name === 'open' && node instanceof HTMLDetailsElement),
  };
  for (const section of document.querySelectorAll('[data-live]')) {
    const other = fresh.getElementById(section.id);
    if (other) morph(section, other, { callbacks });
    else section.replaceChildren();
  }
}

/** Returns true for a field that the user has changed or is about to change. @param {Node} node */
function isChanged(node) {
  if (node instanceof HTMLInputElement) return node.value !== node.defaultValue;
  return node instanceof HTMLSelectElement && node === document.activeElement;
}

/** @param {{ workflow: number, progress: number }} update */
function showProgress({ workflow, progress }) {
  const bar = document.querySelector(`progress[data-workflow="${Number(workflow)}"]`);
  if (bar instanceof HTMLProgressElement) bar.value = Number(progress);
}

function isVisible() {
  return document.visibilityState === 'visible';
}

const address = document.querySelector('main')?.dataset.updates;
const stale = document.getElementById('stale');
if (address !== undefined && stale) void keepUpToDate(address, stale);
