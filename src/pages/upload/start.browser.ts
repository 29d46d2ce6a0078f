import type * as Tus from 'tus-js-client';
import type { Parts } from './parts.ts';
import type { Item } from './recording.ts';

/**
 * Puts the page together and takes up what the browser remembers. Runs in the browser, and knows where the server is
 * from its own address.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function startPage(parts: Parts): void {
  const STAY_MS = 240_000;
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) return;
  const base = new URL('..', script.src).href;
  const { tus } = globalThis as unknown as { tus: typeof Tus };
  const main = document.querySelector('main') as HTMLElement;
  const { account = '', role = '' } = main.dataset;
  const form = main.querySelector('form[data-part="form"]') as HTMLFormElement;
  const dialog = document.querySelector('dialog') as HTMLDialogElement;

  const words = parts.createWords();
  const guesses = parts.createGuesses();
  const api = parts.createApi(base, { account, role });
  const lane = parts.createLane(parts.createTransfers(tus, base), parts.createMeter);
  const errands = parts.createErrands(api);
  const measure = parts.createMeasure(api);
  const follow = parts.createFollower(api);
  const queue = parts.createQueue({
    api,
    lane,
    errands,
    measure,
    records: parts.createRecords(base, account),
    createEvents: (on) => parts.createEvents({ api, errands, measure, follow, on }),
    onChange: (item: Item) => cards.show(item, queue.items.includes(item)),
    onSignedOut: () => signIn(),
  });
  const signIn = parts.createSignIn(dialog, api, account, () => queue.signedIn());
  const recordingForm = parts.createForm({
    form,
    guesses,
    createFiles: (on) => parts.createChosenFiles(form, { words, guesses }, on),
    createSeries: (onChange) => parts.createSeriesField(form, api, onChange),
    add: queue.add,
    change: queue.change,
  });
  const { pause, resume, supply, remove } = queue;
  const cards = parts.createCards(document, words, {
    pause,
    resume,
    supply,
    remove,
    signIn,
    edit: recordingForm.edit,
  });
  queue.restore();

  // What had the focus before may be hidden by now.
  dialog.addEventListener('close', () => cards.focus());
  addEventListener('online', () => lane.nudge());
  addEventListener('visibilitychange', () => {
    if (!document.hidden) queue.renewLinks();
  });
  addEventListener('beforeunload', (event) => {
    if (queue.busy()) event.preventDefault();
  });
  // A session ends when nobody asks for anything, and an upload is one request for hours.
  setInterval(() => {
    if (queue.busy()) api.stillOurs().catch((error) => error.status === 401 && signIn());
  }, STAY_MS);
}
