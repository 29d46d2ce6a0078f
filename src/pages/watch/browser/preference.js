/** Returns what this browser has stored for the player; empty if nothing. @param {string} name */
export function storedPreference(name) {
  try {
    return localStorage.getItem(`inlet-${name}`) ?? '';
  } catch {
    // Frames of other sites may have no storage.
    return '';
  }
}

/** @param {string} name @param {string} value */
export function storePreference(name, value) {
  try {
    localStorage.setItem(`inlet-${name}`, value);
  } catch {
    // Chosen for this page only.
  }
}
