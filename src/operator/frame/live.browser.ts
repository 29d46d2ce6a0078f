/**
 * Keeps the sections of a page that say so up to date: follows the updates, and asks for the page anew after some came,
 * and now and then without one. What somebody works in, has opened or marked stays as it is.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function followUpdates(): void {
  const SOON_MS = 700;
  const ANYWAY_MS = 15_000;
  const main = document.querySelector<HTMLElement>('main[data-updates]');
  const address = main?.dataset.updates;
  if (!main || address === undefined) return;
  let timer: number | undefined;
  let asking = false;
  let again = false;

  const isBusy = (section: Element) => {
    const selection = document.getSelection();
    const marked = selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode);
    const active = document.activeElement;
    const typing = active instanceof HTMLInputElement || active instanceof HTMLSelectElement;
    return marked || (typing && section.contains(active));
  };
  const replace = (section: HTMLElement, fresh: HTMLElement) => {
    if (section.innerHTML === fresh.innerHTML || isBusy(section)) return;
    const opened = [...section.querySelectorAll('details[open]')].map(({ id }) => id);
    const focused = section.contains(document.activeElement) ? document.activeElement?.id : undefined;
    section.innerHTML = fresh.innerHTML;
    for (const id of opened) if (id) section.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '');
    if (focused) document.getElementById(focused)?.focus();
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
      const answer = await fetch(shown, { headers: { Accept: 'text/html' } });
      if (answer.redirected) return location.reload();
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      for (const section of document.querySelectorAll<HTMLElement>('[data-live]')) {
        const other = fresh.getElementById(section.id);
        if (other) replace(section, other);
      }
    } catch {
      // The next one may get through.
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
  const updates = new EventSource(address);
  for (const kind of [...kinds, ...more]) updates.addEventListener(kind, soon);
  updates.addEventListener('operation.progress', (message) => {
    const { workflow, progress } = JSON.parse((message as MessageEvent<string>).data);
    const bar = document.querySelector<HTMLProgressElement>(`progress[data-workflow="${Number(workflow)}"]`);
    if (bar) bar.value = Number(progress);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') soon();
  });
  later(ANYWAY_MS);
}
