/** How the value of a metadata field looks in JSON (compatibility 3.9). */
export type FieldType = 'text' | 'text_long' | 'mixed_text' | 'list' | 'date' | 'time' | 'duration';

/** One field of a metadata catalog. */
export interface MetadataField {
  id: string;
  /** Translation key. */
  label: string;
  type: FieldType;
  required: boolean;
  readOnly: boolean;
  /** Another identifier accepted in requests; its value is one string instead of a list. */
  singular?: string;
}

/** A metadata catalog: the one place that says which fields there are. */
export interface MetadataCatalog {
  flavor: string;
  title: string;
  fields: readonly MetadataField[];
}

/** A value as it was sent: lists for the fields that take several, one string for the others. */
export type FieldValue = string | string[];

/** Values by field identifier. */
export type CatalogValues = Map<string, FieldValue>;

/** Whether the field takes a list of values. */
export function takesList(field: MetadataField): boolean {
  return field.type === 'mixed_text' || field.type === 'list';
}
