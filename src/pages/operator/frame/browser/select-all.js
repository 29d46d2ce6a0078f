/**
 * Adds a checkbox that selects all rows of a page, and shows how many are selected. Without a selection, disables the
 * actions.
 *
 * @param {HTMLElement} heading gets the checkbox
 * @param {HTMLElement} status shows the number; its neighbours are the actions
 */
function addSelectAll(heading, status) {
  const boxes = [...document.querySelectorAll('input[type=checkbox][name=event]')].filter(
    (box) => box instanceof HTMLInputElement,
  );
  const actions = [...(status.parentElement?.querySelectorAll('button') ?? [])];
  const all = document.createElement('input');
  all.type = 'checkbox';
  all.ariaLabel = 'Select all on this page';
  const show = () => {
    const count = boxes.filter(({ checked }) => checked).length;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && !all.checked;
    status.textContent = `${count} selected:`;
    for (const action of actions) action.disabled = count === 0;
  };
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  for (const box of boxes) box.addEventListener('change', show);
  heading.append(all);
  show();
}

const heading = document.querySelector('[data-select-all]');
const status = document.querySelector('[data-selected]');
if (heading instanceof HTMLElement && status instanceof HTMLElement) addSelectAll(heading, status);
