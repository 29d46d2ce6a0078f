import { type SqlBool, sql } from 'kysely';
import { expect, test } from 'vitest';
import type { ApiVersion } from '../version.ts';
import { type ListedResource, type ListRequest, listingOf } from './resource.ts';

/** What a row has to fit, group by group: each condition as the filter's name and its values. */
function wanted(request: Omit<ListRequest, 'access'>, version: ApiVersion): string[][] {
  const names = new Map<object, string>();
  const told = (name: string) => ({
    condition: (values: readonly string[]) => {
      const condition = { test: sql<SqlBool>`true` };
      names.set(condition, [name, ...values].join(' '));
      return condition;
    },
  });
  const resource: ListedResource = {
    table: 'accounts',
    shown: (_, id) => id,
    sorts: { criteria: {}, identifier: { name: 'id', expression: sql.ref('id'), kind: 'text' } },
    filters: { title: told('title'), late: told('late') },
    filtersSince: { late: '1.5.0' },
    colonsSince: '1.1.0',
  };
  const { groups } = listingOf(resource, { access: undefined, ...request }, version);
  return groups.map((group) => group.map((condition) => names.get(condition) ?? ''));
}

test('criteria of one filter stand together, several filters apart', () => {
  expect(wanted({ filters: ['title:A,late:B', 'title:C'] }, '1.5.0')).toEqual([
    ['title A', 'late B'],
    ['title C'],
  ]);
});

test.each(['late', 'unknown', 'toString', '__proto__'])(
  'the filter %s is refused in a version without it',
  (name) => {
    expect(() => wanted({ filters: [`${name}:A`] }, '1.4.0')).toThrow(
      `Unknown filter criterion in request: ${name}`,
    );
  },
);

test('in the first version a filter that it does not have is without effect', () => {
  expect(wanted({ filters: ['late:A,unknown:B,title:C'] }, '1.0.0')).toEqual([['title C']]);
});

test('a value may hold colons from the version on that the resource says', () => {
  expect(wanted({ filters: ['title:A:B'] }, '1.0.0')).toEqual([['title A']]);
  expect(wanted({ filters: ['title:A:B'] }, '1.1.0')).toEqual([['title A:B']]);
});

test('what came in a parameter of its own counts in every version, as it is', () => {
  expect(wanted({ criteria: { late: 'A:B,C', title: 'D' } }, '1.0.0')).toEqual([['late A:B,C', 'title D']]);
});

test('what is wrong with the sort is said before what is wrong with the filters', () => {
  expect(() => wanted({ sort: 'title', filters: ['unknown:A'] }, '1.5.0')).toThrow(
    'The sort criterion "title"',
  );
});
