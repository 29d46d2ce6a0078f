import { BUILT_IN_LISTS } from './built-in-lists.ts';
import type { MetadataCatalog } from './catalog.ts';
import { type OwnMetadata, readMetadataFolder } from './catalog-files.ts';
import { EPISODE } from './episode.ts';
import { collectionOf, type ListProviders } from './list-providers.ts';
import type { MetadataResource } from './refusals.ts';
import { SERIES } from './series.ts';

/** The catalogs of events, or those of series. */
export interface CatalogSet {
  resource: MetadataResource;
  /** The default catalog; its values are columns of the resource. */
  common: MetadataCatalog;
  /** Those that METADATA_DIR adds. */
  extended: readonly MetadataCatalog[];
  /** In the order of the contract: extended ones first, the default one last. */
  all: readonly MetadataCatalog[];
  /** By flavor, in any case of letters. */
  find(flavor: string): MetadataCatalog | undefined;
}

/** All there is to know about the metadata of this installation. */
export interface Catalogs {
  event: CatalogSet;
  series: CatalogSet;
  lists: ListProviders;
}

const NOTHING: OwnMetadata = { catalogs: [], lists: new Map() };

/**
 * The built-in catalogs and lists, and those of the site's own folder.
 *
 * @param metadataDir a folder of YAML files
 * @throws {ConfigError} naming file, line and what is wrong with it
 */
export async function loadCatalogs(metadataDir: string | undefined): Promise<Catalogs> {
  const own = metadataDir ? await readMetadataFolder(metadataDir) : NOTHING;
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
  return {
    resource,
    common,
    extended,
    all,
    find: (flavor) => byFlavor.get(flavor.trim().toLowerCase()),
  };
}

function withCollections(catalog: MetadataCatalog, lists: ListProviders): MetadataCatalog {
  return {
    ...catalog,
    fields: catalog.fields.map((field) => {
      const entries = field.listProvider === undefined ? undefined : lists.get(field.listProvider);
      return entries ? { ...field, collection: collectionOf(entries) } : field;
    }),
  };
}
