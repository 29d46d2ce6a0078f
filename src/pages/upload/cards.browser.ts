import type { Item, Recording } from './recording.ts';
import type { Words } from './words.browser.ts';

/** What somebody can do with a recording. */
export interface CardActions {
  pause(item: Item): void;
  resume(item: Item): void;
  supply(item: Item, files: readonly File[]): string | undefined;
  remove(item: Item): Promise<void>;
  edit(item: Item): void;
  signIn(): void;
}

/** The list of recordings that are on their way or over. */
export interface Cards {
  /** Shows an item as it is now. @param there whether it still is */
  show(item: Item, there: boolean): void;
  /** Takes the focus when nothing has it: where somebody should sign in, or at the top of the list. */
  focus(): void;
}

/**
 * @param root has the parts `recordings`, `cards` and `announcer`; the template is `card`
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createCards(root: ParentNode, words: Words, actions: CardActions): Cards {
  /** Progress is told aloud no more often; changes at once. */
  const TELL_MS = 30_000;
  const ANNOUNCED_MS = 10_000;
  const part = (name: string, within: ParentNode = root) =>
    within.querySelector(`[data-part="${name}"]`) as HTMLElement;
  const [section, list, announcer] = [part('recordings'), part('cards'), part('announcer')];
  const template = document.querySelector<HTMLTemplateElement>('#card') as HTMLTemplateElement;
  interface Card {
    element: HTMLElement;
    /** What was told aloud last, and when. */
    told: string;
    toldAt: number;
  }
  const cards = new Map<Item, Card>();
  const due = new Set<Item>();

  const totals = ({ files }: Recording) => ({
    sent: files.reduce((sum, file) => sum + file.sent, 0),
    size: files.reduce((sum, file) => sum + file.size, 0),
  });
  /** Of a file that the browser needs again: all that have not arrived. */
  const wanted = ({ files }: Recording) =>
    files
      .filter(({ done }) => !done)
      .map(({ name }) => `“${name}”`)
      .join(' and ');

  const stateOf = ({ recording, condition, note, watch }: Item): string => {
    const { sent, size } = totals(recording);
    const there = words.percent(sent / size);
    switch (condition) {
      case 'queued':
        return 'Waits for its turn.';
      case 'uploading':
        return 'Uploading';
      case 'waiting':
        return `Waiting for the server. ${note} What has arrived stays; the upload goes on by itself.`;
      case 'paused':
        return `Paused, with ${there} uploaded.`;
      case 'needs files':
        return `To go on, choose ${wanted(recording)} again. ${sent > 0 ? `${there} has arrived.` : ''}`;
      case 'signed out':
        return 'You are no longer signed in. Sign in again, and it goes on where it was.';
      case 'creating':
        return `The files have arrived. ${note}`;
      case 'failed':
        return note;
      case 'processing':
        return `The files have arrived. ${note}`;
      case 'over':
        return watch ? 'Ready to be watched.' : (recording.outcome ?? '');
    }
  };
  const figuresOf = ({ recording, condition, rate }: Item): string => {
    const { sent, size } = totals(recording);
    if (condition === 'over' || condition === 'processing') return words.size(size);
    const far = `${words.size(sent)} of ${words.size(size)}`;
    if (condition !== 'uploading' || !rate) return far;
    return `${far}, ${words.size(rate)} a second, ${words.time((size - sent) / rate)} left`;
  };

  const make = (item: Item): Card => {
    const element = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
    const on = (name: string, act: () => void) => part(name, element).addEventListener('click', act);
    const choose = part('again', element) as HTMLInputElement;
    on('pause', () => actions.pause(item));
    on('resume', () => actions.resume(item));
    on('edit', () => actions.edit(item));
    on('sign-in', () => actions.signIn());
    on('remove', () => {
      const { condition, recording } = item;
      const question = `Cancel “${recording.details.title}”? What has arrived of it is deleted.`;
      if (condition !== 'over' && condition !== 'processing' && !confirm(question)) return;
      void actions.remove(item);
    });
    choose.addEventListener('change', () => {
      const reason = actions.supply(item, [...(choose.files ?? [])]);
      choose.value = '';
      const hint = part('hint', element);
      hint.textContent = reason ?? '';
      hint.hidden = !reason;
    });
    const { details, files } = item.recording;
    choose.setAttribute('aria-label', `Choose again: the files of ${details.title}`);
    choose.multiple = files.length > 1;
    return { element, told: '', toldAt: Number.NEGATIVE_INFINITY };
  };

  const update = (item: Item, card: Card) => {
    const { recording, condition } = item;
    const { element } = card;
    // Asked for now: what is hidden has no focus any more.
    const focused = document.activeElement;
    const { title, series } = recording.details;
    const { sent, size } = totals(recording);
    const text = (name: string, value: string) => {
      const target = part(name, element);
      if (target.textContent !== value) target.textContent = value;
    };
    const shown = (name: string, visible: boolean) => {
      part(name, element).hidden = !visible;
    };
    element.dataset.condition = condition === 'over' && !item.watch ? 'ended' : condition;
    text('title', title);
    text(
      'facts',
      [series?.title, recording.files.map(({ name }) => name).join(', ')].filter(Boolean).join(' · '),
    );
    text('state', stateOf(item));
    text('figures', figuresOf(item));
    const bar = part('bar', element) as HTMLProgressElement;
    bar.setAttribute('aria-label', `Upload of ${title}`);
    if (condition === 'creating' || condition === 'processing') bar.removeAttribute('value');
    else bar.value = sent / size;
    shown('bar', condition !== 'over');
    shown('pause', condition === 'uploading' || condition === 'waiting' || condition === 'queued');
    shown('resume', condition === 'paused' || condition === 'failed');
    text('resume', condition === 'failed' ? 'Try again' : 'Go on');
    shown('edit', condition === 'failed' && recording.stage === 'event');
    shown('again-label', condition === 'needs files');
    if (condition !== 'needs files') shown('hint', false);
    shown('sign-in', condition === 'signed out');
    text('remove', condition === 'over' || condition === 'processing' ? 'Take off this list' : 'Cancel');
    shown('watch', item.watch !== undefined);
    if (item.watch) part('watch', element).setAttribute('href', item.watch);
    keepFocus(element, focused);
    tell(item, card);
  };

  /** Who has pressed what is now hidden goes on beside it, and not at the top of the page. */
  const keepFocus = (element: HTMLElement, focused: Element | null) => {
    if (!focused?.closest('[hidden]') || !element.contains(focused)) return;
    const beside = ['watch', 'again', 'sign-in', 'resume', 'edit', 'pause'].map((name) =>
      part(name, element),
    );
    const next = beside.find((each) => !each.closest('[hidden]')) ?? part('title', element);
    next.focus();
  };

  /** Each by itself, so that none is lost to the next one that comes at once. */
  const announce = (news: string) => {
    const line = document.createElement('p');
    line.textContent = news;
    announcer.append(line);
    setTimeout(() => line.remove(), ANNOUNCED_MS);
  };

  const tell = (item: Item, card: Card) => {
    const { recording, condition } = item;
    const { sent, size } = totals(recording);
    const news = `${recording.details.title}: ${stateOf(item)}`;
    const now = performance.now();
    if (news === card.told && (condition !== 'uploading' || now - card.toldAt < TELL_MS)) return;
    const first = card.told === '';
    Object.assign(card, { told: news, toldAt: now });
    announce(condition === 'uploading' && !first ? `${news}, ${words.percent(sent / size)}` : news);
  };

  const draw = () => {
    for (const item of due) {
      const card = cards.get(item);
      if (card) update(item, card);
    }
    due.clear();
  };

  return {
    focus: () => {
      const focused = document.activeElement;
      // What has just been hidden may still have it.
      if (focused !== document.body && !focused?.closest('[hidden], dialog:not([open])')) return;
      const asked = list.querySelector<HTMLElement>('[data-part="sign-in"]:not([hidden])');
      (asked ?? part('recordings-heading')).focus();
    },
    show: (item, there) => {
      const known = cards.get(item);
      if (!there) {
        const next = known?.element.nextElementSibling ?? known?.element.previousElementSibling;
        known?.element.remove();
        cards.delete(item);
        // What had the focus is gone; it should not begin anew at the top.
        const heading = next ? part('title', next) : part('recordings-heading');
        if (!section.hidden && document.activeElement === document.body) heading.focus();
      } else if (!known) {
        const card = make(item);
        cards.set(item, card);
        list.prepend(card.element);
      }
      section.hidden = cards.size === 0;
      if (!there) return;
      // Not for each of many small steps; a timer, because nothing is drawn while the window is hidden.
      if (due.size === 0) setTimeout(draw, known ? 100 : 0);
      due.add(item);
    },
  };
}
