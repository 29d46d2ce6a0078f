/** Finds an element by its `data-part`. @template {HTMLElement} [T=HTMLElement] @param {string} name @param {ParentNode} root @returns {T} */
export const findPart = (name, root = document) => /** @type {T} */ (root.querySelector(`[data-part="${name}"]`));

/** @param {string} id @returns {HTMLElement} a copy of the element in the template */
export function copyTemplate(id) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(id));
  return /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
}

/** Shows a message in an element, or hides it. @param {HTMLElement} element @param {string} message */
export function showMessage(element, message) {
  element.textContent = message;
  element.hidden = message === '';
}
