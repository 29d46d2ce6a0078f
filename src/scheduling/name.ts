/** How long the name of a capture agent or of one of its inputs may be. */
export const MAX_NAME = 255;
const VISIBLE = /^(?!\s*$)[^\p{Cc}\p{Cs}]+$/u;

/** Whether a text is the name of an agent or of an input: not blank, and without characters that nobody can see. */
export function isName(text: string): boolean {
  return text.length <= 2 * MAX_NAME && [...text].length <= MAX_NAME && VISIBLE.test(text);
}
