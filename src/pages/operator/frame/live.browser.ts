import type { Idiomorph } from 'idiomorph';

/**
 * Keeps the sections of a page that say so up to date: follows the updates while somebody sees it, and asks for the page
 * anew after some came, and now and then without one. What somebody has opened, marked, focused or typed stays as it is;
 * that the page could not be brought up to date is said on it.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function followUpdates({ morph }: typeof Idiomorph): void {
  const SOON_MS = 700;
  const ANYWAY_MS = 15_000;
  const PATIENCE_MS = 20_000;
  const main = document.querySelector<HTMLElement>('main[data-updates]');
  const stale = document.getElementById('stale');
  const address = main?.dataset.updates;
  if (!main || !stale || address === undefined) return;
  let updates: EventSource | undefined;
  let timer: number | undefined;
  let asking = false;
  let again = false;
  let upToDate = new Date();

  const isChanged = (node: Node) =>
    (node instanceof HTMLInputElement && node.value !== node.defaultValue) ||
    (node instanceof HTMLSelectElement && node === document.activeElement);
  const show = (fresh: Document) => {
    for (const section of document.querySelectorAll<HTMLElement>('[data-live]')) {
      const other = fresh.getElementById(section.id);
      if (!other) section.replaceChildren();
      else
        morph(section, other, {
          callbacks: {
            beforeNodeMorphed: (node: Node) => !isChanged(node),
            beforeAttributeUpdated: (name: string, node: Element) =>
              !(name === 'open' && node instanceof HTMLDetailsElement),
          },
        });
    }
  };
  const complain = (reason: string) => {
    stale.textContent = `Not up to date since ${upToDate.toISOString().slice(11, 19)} UTC: ${reason}.`;
    stale.hidden = false;
  };
  const refresh = async () => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    again = false;
    try {
      const shown = new URL(location.href);
      shown.searchParams.delete('done');
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await fetch(shown, { headers: { Accept: 'text/html' }, signal });
      if (answer.redirected) return location.reload();
      const text = await answer.text();
      const fresh = new DOMParser().parseFromString(text, 'text/html');
      if (!answer.ok || !fresh.querySelector('main[data-updates]')) {
        return complain(`the server answered with the status ${answer.status}`);
      }
      show(fresh);
      upToDate = new Date();
      stale.hidden = true;
      if (document.visibilityState === 'visible') listen();
    } catch {
      complain('the server does not answer');
    } finally {
      asking = false;
      later(again ? SOON_MS : ANYWAY_MS);
    }
  };
  const later = (ms: number) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (document.visibilityState === 'visible') void refresh();
      else later(ANYWAY_MS);
    }, ms);
  };
  const soon = () => {
    if (asking) again = true;
    else later(SOON_MS);
  };

  const kinds = [
    'workflow.state',
    'workflow.deleted',
    'operation.state',
    'operation.progress',
    'event.created',
  ];
  const more = ['event.changed', 'event.recording', 'event.deleted', 'publication.published', 'agent.state'];
  const listen = () => {
    // One that was refused has ended for good.
    if (updates && updates.readyState !== EventSource.CLOSED) return;
    updates = new EventSource(address);
    for (const kind of [...kinds, ...more]) updates.addEventListener(kind, soon);
    updates.addEventListener('operation.progress', (message) => {
      const { workflow, progress } = JSON.parse((message as MessageEvent<string>).data);
      const bar = document.querySelector<HTMLProgressElement>(
        `progress[data-workflow="${Number(workflow)}"]`,
      );
      if (bar) bar.value = Number(progress);
    });
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') {
      listen();
      soon();
    } else {
      // A browser opens few connections to one server, whichever of its windows they are for.
      updates?.close();
      updates = undefined;
    }
  });
  if (document.visibilityState === 'visible') listen();
  later(ANYWAY_MS);
}
