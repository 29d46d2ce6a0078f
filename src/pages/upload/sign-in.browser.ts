import type { Api } from './api.browser.ts';

/**
 * Lets somebody whose session is over sign in again without leaving the page.
 *
 * @returns asks for the password, unless that is being asked for
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createSignIn(
  dialog: HTMLDialogElement,
  api: Pick<Api, 'signIn'>,
  account: string,
  onSignedIn: () => void,
): () => void {
  const part = <T extends HTMLElement>(name: string) => dialog.querySelector(`[data-part="${name}"]`) as T;
  const form = part<HTMLFormElement>('sign-in-form');
  const password = part<HTMLInputElement>('password');
  const [fault, submit, cancel] = [
    part('sign-in-fault'),
    part<HTMLButtonElement>('sign-in-submit'),
    part('later'),
  ];
  const say = (sentence: string) => {
    fault.textContent = sentence;
    fault.hidden = sentence === '';
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const reason = await api.signIn(account, password.value).catch(() => 'The server does not answer.');
    submit.disabled = false;
    password.value = '';
    say(reason ?? '');
    if (reason !== undefined) return password.focus();
    dialog.close();
    onSignedIn();
  });
  cancel.addEventListener('click', () => dialog.close());
  return () => {
    if (dialog.open) return;
    say('');
    dialog.showModal();
    password.focus();
  };
}
