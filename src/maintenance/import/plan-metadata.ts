import type { CatalogValues } from '#metadata/catalog.ts';
import { isEmpty, takesList } from '#metadata/catalog.ts';
import type { CatalogSet } from '#metadata/catalogs.ts';
import { readValue } from '#metadata/field-values.ts';
import { badRequest } from '#platform/http/errors/errors.ts';
import { excerpt } from '#platform/text/excerpt.ts';
import type { SourceEvent } from './source.schemas.ts';

/** The metadata of an imported event or series. */
export interface PlannedMetadata {
  /** Values of the default catalog. */
  common: CatalogValues;
  /** Values of the other catalogs, by flavor. */
  extended: Map<string, CatalogValues>;
  /** Sentences about values that this installation cannot store. */
  notes: string[];
}

/** Reads the catalogs of a source. Values that do not fit are left out and noted. */
export function planMetadata(catalogs: SourceEvent['metadata'], set: CatalogSet): PlannedMetadata {
  const plan: PlannedMetadata = { common: new Map(), extended: new Map(), notes: [] };
  for (const { flavor, fields } of catalogs) {
    const catalog = set.find(flavor);
    if (!catalog) {
      if (fields.some(({ value }) => hasContent(value))) {
        plan.notes.push(`No catalog of METADATA_DIR has the flavor ${excerpt(flavor)}.`);
      }
      continue;
    }
    const values: CatalogValues = new Map();
    for (const { id, value } of fields) {
      const field = catalog.fields.find((each) => each.id === id || each.singular === id);
      if (!field) {
        if (hasContent(value)) plan.notes.push(`The catalog ${catalog.flavor} has no field ${excerpt(id)}.`);
        continue;
      }
      try {
        values.set(field.id, readValue(field, id, takesList(field) ? listOf(value) : value, READING));
      } catch (error) {
        plan.notes.push(`${catalog.flavor}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (catalog === set.common) plan.common = values;
    else if (![...values.values()].every(isEmpty)) plan.extended.set(catalog.flavor, values);
  }
  return plan;
}

const READING = { refuse: (reason: string) => badRequest(`${reason}.`), emptyBadDates: true };

function hasContent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== '';
}

/** Older servers answer some lists as comma-separated texts. */
function listOf(value: unknown): unknown {
  return typeof value === 'string' && !value.startsWith('[') ? value.split(',') : value;
}
