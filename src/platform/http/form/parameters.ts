/** A header value and its parameters by name, both in lower case. */
export interface ParameterizedValue {
  value: string;
  parameters: Readonly<Partial<Record<string, string>>>;
}

/**
 * Parses a header such as `form-data; name="a"`, or returns undefined. Lenient as clients need it: a quotation mark
 * ends a value only before a semicolon or the end; a backslash escapes only itself and that mark.
 */
export function parseParameters(header: string): ParameterizedValue | undefined {
  const parameters: Partial<Record<string, string>> = Object.create(null);
  const first = endOfPlain(header, 0);
  for (let at = first; ; ) {
    at = skip(header, at, /[;\s]*/y);
    if (at === header.length) return { value: header.slice(0, first).trim().toLowerCase(), parameters };
    const equals = skip(header, at, /[^\s=;"]+\s*=\s*/y);
    if (equals === at) return undefined;
    const name = (header.slice(at, equals).split('=', 1)[0] ?? '').trim().toLowerCase();
    const text = header[equals] === '"' ? readQuoted(header, equals + 1) : readPlain(header, equals);
    if (!text) return undefined;
    parameters[name] ??= text.value;
    at = text.end;
  }
}

interface Text {
  value: string;
  end: number;
}

function readPlain(header: string, start: number): Text {
  const end = endOfPlain(header, start);
  return { value: header.slice(start, end).trim(), end };
}

function readQuoted(header: string, start: number): Text | undefined {
  let value = '';
  for (let at = start; at < header.length; at += 1) {
    const character = header[at];
    const next = header[at + 1];
    if (character === '\\' && (next === '\\' || next === '"')) {
      value += next;
      at += 1;
    } else if (character === '"') {
      const end = skip(header, at + 1, /\s*/y);
      if (end === header.length || header[end] === ';') return { value, end };
      value += character;
    } else {
      value += character;
    }
  }
  return undefined;
}

function endOfPlain(header: string, start: number): number {
  const end = header.indexOf(';', start);
  return end < 0 ? header.length : end;
}

function skip(text: string, start: number, what: RegExp): number {
  what.lastIndex = start;
  return start + (what.exec(text)?.[0].length ?? 0);
}
