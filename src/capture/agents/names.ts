/** How long the name of a capture agent or of one of its inputs may be. */
export const MAX_NAME = 255;
/** The property that names inputs, with commas between them. */
export const INPUTS = 'capture.device.names';
const VISIBLE = /^(?!\s*$)[^\p{Cc}\p{Cs}]+$/u;
const MAX_SHOWN = 100;

/** Whether a text is the name of an agent or of an input: not blank, and without characters that nobody can see. */
export function isName(text: string): boolean {
  return text.length <= 2 * MAX_NAME && [...text].length <= MAX_NAME && VISIBLE.test(text);
}

/** The inputs in the property `capture.device.names`, each once; they may be no names. */
export function inputsIn(text: string): string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}

/** The beginning of what a client sent, as it may stand in a sentence to it. What can be as deep as JSON is not shown. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_SHOWN));
  if (value === undefined) return 'missing';
  return typeof value === 'object' ? 'a list or an object' : String(value);
}
