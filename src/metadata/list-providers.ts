/** Values clients may choose from, in order. */
export interface ListEntry {
  key: string;
  /** What people see, or its translation key. */
  label: string;
  /** What the list endpoint says of the value, where that is more than its label. */
  text?: string;
}

/** The lists of this installation, by name. */
export type ListProviders = ReadonlyMap<string, readonly ListEntry[]>;

/** A list as the `collection` of a field: label by value. */
export function collectionOf(entries: readonly ListEntry[]): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.map(({ key, label }) => [key, label]));
}
