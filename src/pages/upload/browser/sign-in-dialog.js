import { findPart, showMessage } from './page-parts.js';
import { account, api, queue } from './session.js';

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector('dialog'));
const fault = findPart('sign-in-fault');
/** @type {HTMLInputElement} */
const password = findPart('password');
/** @type {HTMLButtonElement} */
const submit = findPart('sign-in-submit');

/** Asks for the password again after the session has expired. */
export function openSignIn() {
  if (dialog.open) return;
  showMessage(fault, '');
  dialog.showModal();
  password.focus();
}

findPart('sign-in-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  submit.disabled = true;
  const refusal = await api.signIn(account, password.value).catch(() => 'The server does not answer.');
  submit.disabled = false;
  password.value = '';
  showMessage(fault, refusal ?? '');
  if (refusal !== undefined) return password.focus();
  dialog.close();
  queue.continueSignedIn();
});
findPart('later').addEventListener('click', () => dialog.close());
