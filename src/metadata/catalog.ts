/** The types of metadata fields (compatibility 3.9, "Internal type"). `list` holds several texts. */
export const FIELD_TYPES = [
  'text',
  'text_long',
  'ordered_text',
  'mixed_text',
  'list',
  'boolean',
  'number',
  'date',
  'start_date',
  'start_time',
  'duration',
] as const;

export type FieldType = (typeof FIELD_TYPES)[number];

export interface MetadataField {
  id: string;
  /** Translation key. */
  label: string;
  type: FieldType;
  /** The field may be missing, but not empty. */
  required: boolean;
  /** Settable on creation only. Later requests are accepted, but do not change it. */
  readOnly: boolean;
  /** Shown, but refused in requests for a new resource. */
  outputOnly?: boolean;
  /** A second identifier in requests, whose value is a comma-separated text instead of a list. */
  singular?: string;
  /** True if the labels of its values are translation keys. */
  translatable?: boolean;
  delimiter?: string;
  /** The name of the list of its values. */
  listProvider?: string;
  /** Labels of the suggested values, filled from the list provider. */
  collection?: Readonly<Record<string, string>>;
  /** The Dublin Core term (`dcterms:`); undefined if the XML omits the field. */
  term?: string;
  /** Overrides the limit of the type. */
  maxBytes?: number;
}

export interface MetadataCatalog {
  flavor: string;
  /** Translation key. */
  title: string;
  fields: readonly MetadataField[];
}

/**
 * The value of a field: a list if the type takes one, else a text. `true` or `false` for a boolean, digits for a number,
 * `HH:mm:ss` for a duration, ISO 8601 in UTC for dates and times.
 */
export type FieldValue = string | string[];

/** Values by field identifier. */
export type CatalogValues = Map<string, FieldValue>;

export function takesList(field: MetadataField): boolean {
  return field.type === 'mixed_text' || field.type === 'list';
}

export function isEmpty(value: FieldValue): boolean {
  return typeof value === 'string' ? value.trim() === '' : value.length === 0;
}
