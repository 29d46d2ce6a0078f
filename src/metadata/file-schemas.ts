import { z } from 'zod';
import { FIELD_TYPES } from './catalog.ts';

const RESERVED = /^dublincore\//i;

const line = z.string().min(1).max(200);
const flavor = z
  .string()
  .regex(/^[A-Za-z0-9._+-]+\/[A-Za-z0-9._+-]+$/, 'a flavor looks like license/episode')
  .refine((text) => !RESERVED.test(text), 'the flavors dublincore/... are built in');
const values = z
  .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .refine((entries) => Object.keys(entries).length > 0, 'it holds no values');

/** The two fields of a start are one column of an event; no other catalog can have them. */
const TYPES = FIELD_TYPES.filter((type) => type !== 'start_date' && type !== 'start_time');

const FieldSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/, 'an id is a letter, then letters, digits and _ . -'),
    label: line,
    type: z.enum(TYPES),
    required: z.boolean().default(false),
    readOnly: z.boolean().default(false),
    translatable: z.boolean().optional(),
    delimiter: line.optional(),
    list: z.string().optional(),
    collection: values.optional(),
  })
  .refine(({ list, collection }) => !(list && collection), 'a field has either a list or a collection');

/** A file that defines a catalog. */
export const CatalogSchema = z.strictObject({
  resource: z.enum(['event', 'series']),
  flavor,
  title: line,
  fields: z.array(FieldSchema).min(1),
});

/** A file that defines a list of values; labels by value. */
export const ListSchema = z.strictObject({
  list: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'the name of a list is made of letters, digits and _ . -')
    .refine((name) => name !== 'providers', 'the name is taken by the list of all lists'),
  values,
});
