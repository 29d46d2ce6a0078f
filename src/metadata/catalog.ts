/** What a metadata field holds (compatibility 3.9, "Internal type"); `list` is several texts. */
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

/** One field of a metadata catalog. */
export interface MetadataField {
  id: string;
  /** Translation key. */
  label: string;
  type: FieldType;
  /** It may be left out, but not be empty. */
  required: boolean;
  /** It can be given when the resource is created; later requests that hold it change nothing. */
  readOnly: boolean;
  /** It is shown, but no request for a new resource may hold it. */
  outputOnly?: boolean;
  /** Another identifier accepted in requests; its value is one string with commas instead of a list. */
  singular?: string;
  /** Whether the labels of its values are translation keys. */
  translatable?: boolean;
  delimiter?: string;
  /** The list that says which values there are. */
  listProvider?: string;
  /** Suggested values, each with its label; filled from the list provider when the catalogs are loaded. */
  collection?: Readonly<Record<string, string>>;
  /** The Dublin Core term (`dcterms:`) that holds the value; none when it is not part of the XML. */
  term?: string;
  /** The longest value in bytes of UTF-8, where it is not that of the type. */
  maxBytes?: number;
}

/** A metadata catalog: the one place that says which fields there are. */
export interface MetadataCatalog {
  flavor: string;
  /** Translation key. */
  title: string;
  fields: readonly MetadataField[];
}

/**
 * A value: lists for the fields that take several, one string for the others. `true` or `false` for a boolean, digits
 * for a number, `HH:mm:ss` for a duration; dates and times in ISO 8601 and UTC.
 */
export type FieldValue = string | string[];

/** Values by field identifier. */
export type CatalogValues = Map<string, FieldValue>;

/** Whether the field takes a list of values. */
export function takesList(field: MetadataField): boolean {
  return field.type === 'mixed_text' || field.type === 'list';
}

/** Whether a value counts as none. */
export function isEmpty(value: FieldValue): boolean {
  return typeof value === 'string' ? value.trim() === '' : value.length === 0;
}
