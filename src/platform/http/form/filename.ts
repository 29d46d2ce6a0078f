const MAX_LENGTH = 255;

/**
 * What is kept of the name that a client gave a file: shown to people, never used as a path. Folders go, line breaks and
 * other control characters, and what turns the direction of reading.
 *
 * @param otherwise the name of a file that has none by then
 */
export function safeFilename(name: string, otherwise: string): string {
  const [last = ''] = name.split(/[\\/]/).slice(-1);
  const visible = last
    .toWellFormed()
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '')
    .trim();
  if (visible === '' || /^\.{1,2}$/.test(visible)) return otherwise === '' ? 'file' : safeFilename(otherwise, '');
  return [...visible].slice(0, MAX_LENGTH).join('');
}
