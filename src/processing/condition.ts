/** Decides from the workflow's configuration whether an operation runs. */
type Test = (configuration: Readonly<Record<string, string>>) => boolean;

/** A condition on the configuration of a workflow. */
export interface Condition {
  /** The text in the definition. */
  source: string;
  /** The configuration keys that it reads. */
  keys: string[];
  test: Test;
}

const TOKEN = /\s*(&&|\|\||!|\(|\)|[A-Za-z_][A-Za-z0-9_.-]*)\s*/y;

/**
 * Compiles the `if` of an operation: configuration keys joined by `&&`, `||`, `!` and parentheses. A key is true when
 * its value is the word `true`, in any case of letters.
 *
 * @throws {SyntaxError} with a sentence that shows the unexpected part
 */
export function compileCondition(source: string): Condition {
  const tokens = tokenize(source);
  const keys: string[] = [];
  let next = 0;

  const either = (): Test => {
    let left = both();
    while (tokens[next] === '||') {
      next += 1;
      const [a, b] = [left, both()];
      left = (configuration) => a(configuration) || b(configuration);
    }
    return left;
  };
  const both = (): Test => {
    let left = single();
    while (tokens[next] === '&&') {
      next += 1;
      const [a, b] = [left, single()];
      left = (configuration) => a(configuration) && b(configuration);
    }
    return left;
  };
  const single = (): Test => {
    const token = tokens[next++];
    if (token === '!') {
      const inner = single();
      return (configuration) => !inner(configuration);
    }
    if (token === '(') {
      const inner = either();
      if (tokens[next++] !== ')') throw new SyntaxError(`Missing closing parenthesis in "${source}".`);
      return inner;
    }
    if (token === undefined || !/^[A-Za-z_]/.test(token)) {
      throw new SyntaxError(
        `Expected a configuration key ${token ? `instead of "${token}"` : 'at the end'} in "${source}".`,
      );
    }
    keys.push(token);
    return (configuration) => configuration[token]?.trim().toLowerCase() === 'true';
  };

  const test = either();
  if (next < tokens.length) throw new SyntaxError(`Unexpected "${tokens[next]}" in "${source}".`);
  return { source, test, keys };
}

function tokenize(source: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match?.[1]) throw new SyntaxError(`Unexpected "${source.slice(at, at + 10)}" in "${source}".`);
    tokens.push(match[1]);
  }
  return tokens;
}
