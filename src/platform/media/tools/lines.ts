/** No line that the tools are asked for is longer. */
const LONGEST_LINE = 4096;

/** Cuts what a tool prints, in pieces of any size, into lines. What is longer than any line it was asked for is dropped. */
export class Lines {
  readonly #line: (line: string) => void;
  #rest = '';
  #dropping = false;

  constructor(line: (line: string) => void) {
    this.#line = line;
  }

  add(text: string): void {
    const [first = '', ...others] = text.split('\n');
    this.#append(first);
    for (const start of others) {
      this.end();
      this.#append(start);
    }
  }

  /** What came last is a line, though no line break follows. */
  end(): void {
    const [line, whole] = [this.#rest, !this.#dropping];
    this.#rest = '';
    this.#dropping = false;
    if (whole) this.#line(line);
  }

  #append(text: string): void {
    if (this.#dropping || this.#rest.length + text.length > LONGEST_LINE) {
      this.#dropping = true;
      this.#rest = '';
    } else this.#rest += text;
  }
}
