import type { Api, Fault } from './api.browser.ts';

/** The series that somebody has chosen, in a field that searches as one types. */
export interface SeriesField {
  value(): { id: string; title: string } | undefined;
  set(series: { id: string; title: string } | undefined): void;
  /** Whether what is typed is no series that was chosen. */
  undecided(): boolean;
}

/**
 * Makes a text field one that suggests series: a combobox with a list, after the pattern of the ARIA authoring practices.
 *
 * @param root has the parts `series`, `series-list`, `series-clear` and `series-said`
 * @param onChange another one was chosen, or none
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createSeriesField(
  root: ParentNode,
  api: Pick<Api, 'searchSeries'>,
  onChange: () => void,
): SeriesField {
  const PAUSE_MS = 200;
  const part = <T extends HTMLElement>(name: string) => root.querySelector(`[data-part="${name}"]`) as T;
  const input = part<HTMLInputElement>('series');
  const [list, clear, said] = [part('series-list'), part('series-clear'), part('series-said')];
  let chosen: { id: string; title: string } | undefined;
  let found: { id: string; title: string }[] = [];
  let active = -1;
  let search: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const isOpen = () => !list.hidden;
  const close = () => {
    clearTimeout(timer);
    search?.abort();
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const mark = (index: number) => {
    active = index;
    for (const [i, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', String(i === index));
      if (i === index) option.scrollIntoView({ block: 'nearest' });
    }
    const option = list.children[index];
    if (option) input.setAttribute('aria-activedescendant', option.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const set = (series: { id: string; title: string } | undefined) => {
    chosen = series;
    input.value = series?.title ?? '';
    clear.hidden = !series;
    said.textContent = '';
    close();
    onChange();
  };
  const show = (series: { id: string; title: string }[]) => {
    found = series;
    list.replaceChildren(
      ...series.map(({ title, id }, i) => {
        const option = document.createElement('li');
        option.id = `series-${i}`;
        option.setAttribute('role', 'option');
        option.setAttribute('aria-selected', 'false');
        option.textContent = title || id;
        option.addEventListener('click', () => set(series[i]));
        return option;
      }),
    );
    active = -1;
    list.hidden = series.length === 0;
    input.setAttribute('aria-expanded', String(series.length > 0));
    said.textContent =
      series.length === 0
        ? 'There is no such series.'
        : `${series.length === 20 ? 'The first 20' : series.length} found.`;
  };
  const look = async () => {
    search?.abort();
    search = new AbortController();
    const { signal } = search;
    try {
      const series = await api.searchSeries(input.value.trim(), signal);
      if (!signal.aborted && document.activeElement === input) show(series);
    } catch (error) {
      if (signal.aborted) return;
      close();
      const { status, message } = error as Fault;
      said.textContent = status === 403 ? 'This account may not search series.' : message;
    }
  };

  input.addEventListener('input', () => {
    // What was found before is not what is looked for now.
    close();
    if (chosen) {
      chosen = undefined;
      clear.hidden = true;
      onChange();
    }
    timer = setTimeout(() => void look(), PAUSE_MS);
  });
  input.addEventListener('click', () => {
    if (!isOpen() && !chosen) void look();
  });
  input.addEventListener('keydown', (event) => {
    const { key, altKey } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      if (!isOpen()) return void look();
      if (altKey) return key === 'ArrowUp' ? close() : undefined;
      const step = key === 'ArrowDown' ? 1 : -1;
      // Before the first one is the last.
      mark(active < 0 && step < 0 ? found.length - 1 : (active + step + found.length) % found.length);
    } else if (key === 'Enter' && isOpen()) {
      event.preventDefault();
      if (active >= 0) set(found[active]);
      else if (found.length === 1) set(found[0]);
    } else if (key === 'Escape') {
      event.preventDefault();
      if (isOpen()) close();
      else set(undefined);
    } else if (key === 'Tab' && isOpen() && active >= 0) set(found[active]);
  });
  input.addEventListener('blur', close);
  // The field keeps the focus, and with it the list.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  clear.addEventListener('click', () => {
    set(undefined);
    input.focus();
  });
  return { value: () => chosen, set, undecided: () => !chosen && input.value.trim() !== '' };
}
