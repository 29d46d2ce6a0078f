import type { HttpError } from '#platform/http/errors/errors.ts';
import { INVALID_RULE } from '../states/refusals.ts';

const LONGEST = 1000;
const SHOWN = 200;
const SHOWN_VALUE = 60;
const PREFIX = /^RRULE:/;
/** Clients write it after the last part as well. */
const END = /;$/;
const PART = /^([A-Z-]+)=(.+)$/;
const NUMBER = /^([+-]?)(\d{1,9})$/;

const NAMES = [
  ...['FREQ', 'INTERVAL', 'BYDAY', 'BYMONTH', 'BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYSETPOS'],
  ...['BYHOUR', 'BYMINUTE', 'BYSECOND', 'WKST', 'COUNT', 'UNTIL'],
];

/** Whole numbers from the first to the last; when signed, also those below zero that count from the end. */
export interface Range {
  first: number;
  last: number;
  signed?: boolean;
}

/** The parts `NAME=VALUE` of a recurrence rule (RFC 5545, 3.3.10), in capitals, and the refusal of what they say. */
export class RuleText {
  readonly #text: string;
  readonly #parts = new Map<string, string>();

  /** @throws {HttpError} 400 for a text that is no list of known parts, each at most once */
  constructor(text: string) {
    this.#text = text.trim();
    if (text.length > LONGEST) throw this.invalid(`an rrule may have ${LONGEST} characters`);
    if (!/^[\x20-\x7e]*$/.test(this.#text)) throw this.invalid('an rrule is one line of ASCII characters');
    for (const part of this.#text.toUpperCase().replace(PREFIX, '').replace(END, '').split(';')) {
      const [, name, value] = PART.exec(part) ?? [];
      if (!name || !value) throw this.invalid("an rrule consists of parts NAME=VALUE with ';' between them");
      if (!NAMES.includes(name))
        throw this.invalid(`${shown(name)} is no part; allowed are ${NAMES.join(', ')}`);
      if (this.#parts.has(name)) throw this.invalid(`${name} is there twice; allowed is each part once`);
      this.#parts.set(name, value);
    }
  }

  /** The refusal of this rule, for a reason that is said in words for people. */
  invalid(reason: string): HttpError {
    const text = this.#text.slice(0, SHOWN).replaceAll(/\p{C}/gu, '');
    return INVALID_RULE(text, reason);
  }

  /** The value of a part as it was written, but in capitals. */
  value(name: string): string | undefined {
    return this.#parts.get(name);
  }

  /** One of some words. @throws {HttpError} 400 */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.value(name);
    const word = words.find((known) => known === value);
    if (value !== undefined && word === undefined) {
      throw this.refuse(name, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
    }
    return word;
  }

  /** Exactly one number. @throws {HttpError} 400 */
  number(name: string, range: Range): number | undefined {
    const value = this.value(name);
    if (value === undefined) return undefined;
    return numberIn(range, value) ?? this.#fail(name, `one whole number ${inWords(range)}`);
  }

  /** Numbers with commas between them, each once; none when the part is not there. @throws {HttpError} 400 */
  numbers(name: string, range: Range): number[] {
    return this.list(name, (item) => numberIn(range, item), `whole numbers ${inWords(range)}`);
  }

  /** Whatever has commas between it; `read` gives undefined for what is not allowed. @throws {HttpError} 400 */
  list<Item>(name: string, read: (item: string) => Item | undefined, allowed: string): Item[] {
    const items = new Set(this.value(name)?.split(','));
    return [...items].map((item) => read(item) ?? this.#fail(name, `${allowed}, with commas between them`));
  }

  /** The refusal of the value of a part. */
  refuse(name: string, allowed: string): HttpError {
    const value = this.value(name);
    const is = value === undefined ? 'missing' : `'${shown(value)}'`;
    return this.invalid(`${name} is ${is}; allowed is ${allowed}`);
  }

  #fail(name: string, allowed: string): never {
    throw this.refuse(name, allowed);
  }
}

/** A number in a range; undefined for anything else. */
export function numberIn({ first, last, signed = false }: Range, text: string): number | undefined {
  const [, sign, digits] = NUMBER.exec(text) ?? [];
  const size = Number(digits);
  if (digits === undefined || size < first || size > last || (sign !== '' && !signed)) return undefined;
  return sign === '-' ? -size : size;
}

function inWords({ first, last, signed }: Range): string {
  return `from ${first} to ${last}${signed ? ` or from -${last} to -${first}` : ''}`;
}

function shown(value: string): string {
  return value.length > SHOWN_VALUE ? `${value.slice(0, SHOWN_VALUE)}...` : value;
}
