const MAX_LENGTH = 255;

/**
 * Makes a client's file name safe to display. It is never used as a path.
 *
 * @param otherwise the name of a file whose name becomes empty
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
