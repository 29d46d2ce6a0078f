import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { orderOf, parseSort, type Sorts } from './sorts.ts';

describe('the parameter', () => {
  test.each([
    ['title:ASC', [['title', false]]],
    ['title:desc', [['title', true]]],
    [
      'title:Ascending,date:DESCENDING',
      [
        ['title', false],
        ['date', true],
      ],
    ],
    [
      ' title : ASC ,, date:DESC,',
      [
        ['title', false],
        ['date', true],
      ],
    ],
    ['title:ASC,title:DESC', [['title', false]]],
    ['', []],
    [undefined, []],
  ])('%j is read as %j', (sort, parts) => {
    expect(parseSort(sort)).toEqual(parts.map(([name, descending]) => ({ name, descending })));
  });

  test.each(['title', 'title:', 'title:UP', ':ASC', 'title:ASC:DESC', 'title=ASC', 'title:constructor'])(
    '%j is refused',
    (sort) =>
      expect(() => parseSort(sort)).toThrow(
        /^The sort criterion ".*" is not of the form name:ASC or name:DESC\.$/,
      ),
  );
});

describe('the order', () => {
  const criterion = (name: string) => ({ name, expression: sql.ref(name), kind: 'text' as const });
  const SORTS: Sorts = {
    criteria: { title: criterion('title'), date: criterion('start'), start: criterion('start'), state: null },
    standard: { ...criterion('start'), descending: true },
    identifier: criterion('identifier'),
  };
  const names = (sort: string) =>
    orderOf(parseSort(sort), SORTS).map(({ name, descending }) => `${name} ${descending ? 'down' : 'up'}`);

  test.each([
    ['', ['start down', 'identifier down']],
    ['title:ASC', ['title up', 'identifier up']],
    ['title:DESC,start:ASC', ['title down', 'start up', 'identifier down']],
    ['state:ASC', ['start down', 'identifier down']],
    ['state:ASC,title:ASC', ['title up', 'identifier up']],
    ['date:ASC,start:DESC', ['start up', 'identifier up']],
  ])('of %j is %j', (sort, order) => expect(names(sort)).toEqual(order));

  test('of a list that has no other is that of the identifiers', () => {
    const { identifier } = SORTS;
    expect(orderOf([], { criteria: {}, identifier })).toEqual([{ ...identifier, descending: false }]);
  });

  test.each(['unknown', 'toString', '__proto__'])('%s is not known', (name) => {
    expect(() => names(`${name}:ASC`)).toThrow(`Unknown sort criterion in request: ${name}`);
  });
});
