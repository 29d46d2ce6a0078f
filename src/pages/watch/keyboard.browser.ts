/**
 * The keys that people know from other players, wherever on the page the focus is: they press the controls of the player,
 * so that these show what happens; what cannot be seen there is told to screen readers.
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 *
 * @param clock writes seconds as a time
 */
export function keyboard(player: HTMLElement, clock: (seconds: number) => string): void {
  const find = <T extends HTMLElement>(name: string) => player.querySelector<T>(`[data-part="${name}"]`);
  const sound = player.querySelector<HTMLMediaElement>('[data-sound]');
  const [seek, rate, status] = [
    find<HTMLInputElement>('seek'),
    find<HTMLSelectElement>('rate'),
    find('status'),
  ];
  if (!seek || !rate || !status) return;

  const press = (name: string) => () => {
    const button = find(name);
    if (!button || button.hidden) return;
    button.click();
    const pressed = button.getAttribute('aria-pressed');
    const state = { true: ' on', false: ' off' }[pressed ?? ''] ?? '';
    if (state) status.textContent = `${button.getAttribute('aria-label')}${state}`;
  };
  const goTo = (seconds: number) => {
    seek.valueAsNumber = seconds;
    seek.dispatchEvent(new Event('input'));
    status.textContent = clock(seek.valueAsNumber);
  };
  const go = (seconds: number) => () => goTo(seek.valueAsNumber + seconds);
  const choose = (step: number) => () => {
    const option = rate.options[rate.selectedIndex + step];
    if (!option) return;
    rate.selectedIndex += step;
    rate.dispatchEvent(new Event('change'));
    status.textContent = `Speed ${option.text}`;
  };
  const once: Record<string, () => void> = {
    ' ': press('play'),
    k: press('play'),
    m: () => {
      if (!sound) return;
      press('mute')();
      status.textContent = sound.muted ? 'Sound off' : 'Sound on';
    },
    f: press('fullscreen'),
    c: press('captions'),
  };
  const repeatable: Record<string, () => void> = {
    j: go(-10),
    l: go(10),
    ArrowLeft: go(-5),
    ArrowRight: go(5),
    '<': choose(-1),
    '>': choose(1),
  };
  for (let digit = 0; digit <= 9; digit += 1) {
    once[digit] = () => goTo((Number(seek.max) * digit) / 10);
  }

  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const { target } = event;
    const on = (selector: string) => target instanceof Element && target.matches(selector);
    // What a control does with a key itself comes first.
    if (on('select') || (on('button') && event.key === ' ')) return;
    if (on('input') && event.key.startsWith('Arrow')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = repeatable[key] ?? (event.repeat ? undefined : once[key]);
    if (!act) return;
    event.preventDefault();
    act();
  });
}
