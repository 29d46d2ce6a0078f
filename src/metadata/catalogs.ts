import { z } from 'zod';
import { type ConfigFile, parseYaml, readYamlFolder } from '#platform/text/yaml.ts';
import { FIELD_TYPES, type MetadataCatalog } from './catalog.ts';
import { EPISODE } from './episode-fields.ts';
import { BUILT_IN_LISTS, type ListEntry, type ListProviders } from './list-providers.ts';
import type { MetadataResource } from './metadata-refusals.ts';
import { SERIES } from './series-fields.ts';

const RESERVED = /^dublincore\//i;

const line = z.string().min(1).max(200);
const flavor = z
  .string()
  .regex(/^[A-Za-z0-9._+-]+\/[A-Za-z0-9._+-]+$/, 'a flavor looks like license/episode')
  .refine((text) => !RESERVED.test(text), 'the flavors dublincore/... are built in');
const values = z
  .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .refine((entries) => Object.keys(entries).length > 0, 'it holds no values');

/** Only the default catalog can have the two fields of a start, because they share a column. */
const TYPES = FIELD_TYPES.filter((type) => type !== 'start_date' && type !== 'start_time');

const FieldSchema = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/, 'an id is a letter, then letters, digits and _ . -'),
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
const CatalogSchema = z.strictObject({
  resource: z.enum(['event', 'series']),
  flavor,
  title: line,
  fields: z.array(FieldSchema).min(1),
});

/** A file that defines a list: labels by value. */
const ListSchema = z.strictObject({
  list: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'the name of a list is made of letters, digits and _ . -')
    .refine((name) => name !== 'providers', 'the name is taken by the list of all lists'),
  values,
});

/** The catalogs and lists of METADATA_DIR. */
interface OwnMetadata {
  catalogs: (MetadataCatalog & { resource: MetadataResource })[];
  lists: Map<string, readonly ListEntry[]>;
}

/**
 * Parses YAML files, each of which defines a catalog (`resource`, `flavor`, `title`, `fields`) or a list (`list`, `values`).
 *
 * @throws {ConfigError} `FILE:LINE: reason`
 */
export function parseMetadataFiles(files: readonly { file: string; source: string }[]): OwnMetadata {
  const lists: ConfigFile<z.output<typeof ListSchema>>[] = [];
  const catalogs: ConfigFile<z.output<typeof CatalogSchema>>[] = [];
  for (const { file, source } of files) {
    const { data } = parseYaml(file, source, z.looseObject({}));
    if ('list' in data) lists.push(parseYaml(file, source, ListSchema));
    else catalogs.push(parseYaml(file, source, CatalogSchema));
  }
  refuseRepeated(lists, ['list'], ({ list }) => list);
  refuseRepeated(catalogs, ['flavor'], ({ resource, flavor }) => `${resource} ${flavor.toLowerCase()}`);
  const entriesOf = (labels: Readonly<Record<string, string>>): ListEntry[] =>
    Object.entries(labels).map(([key, label]) => ({ key, label }));
  const ownLists = new Map(lists.map(({ data }) => [data.list, entriesOf(data.values)]));
  for (const file of catalogs) checkFields(file, new Set([...BUILT_IN_LISTS.keys(), ...ownLists.keys()]));
  const ownCatalogs = catalogs.map(({ data: { fields, ...catalog } }) => ({
    ...catalog,
    fields: fields.map(({ list, ...field }) => ({ ...field, listProvider: list })),
  }));
  return { catalogs: ownCatalogs, lists: ownLists };
}

function refuseRepeated<T>(files: readonly ConfigFile<T>[], path: string[], keyOf: (data: T) => string): void {
  const seen = new Map<string, string>();
  for (const { file, data, fail } of files) {
    const other = seen.get(keyOf(data));
    if (other) fail(path, `the same ${path.join('.')} is defined by ${other}`);
    seen.set(keyOf(data), file);
  }
}

function checkFields({ data, fail }: ConfigFile<z.output<typeof CatalogSchema>>, lists: ReadonlySet<string>): void {
  const seen = new Set<string>();
  data.fields.forEach(({ id, list }, index) => {
    if (seen.has(id)) fail(['fields', index, 'id'], `the id "${id}" is taken by another field`);
    seen.add(id);
    if (list === undefined || lists.has(list)) return;
    fail(['fields', index, 'list'], `the list "${list}" does not exist; allowed are ${[...lists].sort().join(', ')}`);
  });
}

/** The catalogs of events or of series. */
export interface CatalogSet {
  resource: MetadataResource;
  /** The default catalog, whose values are columns of the resource. */
  common: MetadataCatalog;
  /** The catalogs of METADATA_DIR. */
  extended: readonly MetadataCatalog[];
  /** Extended catalogs first, the default one last. */
  all: readonly MetadataCatalog[];
  /** Finds a catalog by its flavor, ignoring case. */
  find(flavor: string): MetadataCatalog | undefined;
}

/** The catalogs and lists of this installation. */
export interface Catalogs {
  event: CatalogSet;
  series: CatalogSet;
  lists: ListProviders;
}

/**
 * Loads the built-in catalogs and lists, and those of the YAML files in `metadataDir`.
 *
 * @throws {ConfigError} with file, line and reason
 */
export async function loadCatalogs(metadataDir: string | undefined): Promise<Catalogs> {
  const own: OwnMetadata = metadataDir
    ? parseMetadataFiles(await readYamlFolder('METADATA_DIR', metadataDir))
    : { catalogs: [], lists: new Map() };
  const lists: ListProviders = new Map([...BUILT_IN_LISTS, ...own.lists]);
  const extended = (resource: MetadataResource) => own.catalogs.filter((catalog) => catalog.resource === resource);
  return {
    event: catalogSet('event', EPISODE, extended('event'), lists),
    series: catalogSet('series', SERIES, extended('series'), lists),
    lists,
  };
}

function catalogSet(
  resource: MetadataResource,
  defaultCatalog: MetadataCatalog,
  ownCatalogs: readonly MetadataCatalog[],
  lists: ListProviders,
): CatalogSet {
  const common = withCollections(defaultCatalog, lists);
  const extended = ownCatalogs.map((catalog) => withCollections(catalog, lists));
  const all = [...extended, common];
  const byFlavor = new Map(all.map((catalog) => [catalog.flavor.toLowerCase(), catalog]));
  return { resource, common, extended, all, find: (flavor) => byFlavor.get(flavor.trim().toLowerCase()) };
}

function withCollections(catalog: MetadataCatalog, lists: ListProviders): MetadataCatalog {
  return {
    ...catalog,
    fields: catalog.fields.map((field) => {
      const entries = field.listProvider === undefined ? undefined : lists.get(field.listProvider);
      if (!entries) return field;
      return { ...field, collection: Object.fromEntries(entries.map(({ key, label }) => [key, label])) };
    }),
  };
}
