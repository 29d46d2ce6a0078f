/** A file, and the name of the form's part that it is sent as. */
export interface TrackFile {
  part: 'presenter' | 'presentation' | 'audio';
  path: string;
  /** In bytes. */
  size: number;
}

/** What an event is to be, beside its files. */
export interface NewEvent {
  title: string;
  description?: string | undefined;
  /** The identifier of its series. */
  series?: string | undefined;
  workflow: string;
  /** Roles that may read it; without any, who may do what is for its series to say. */
  read: readonly string[];
}

/** The fields of `POST /api/events` without the files, as JSON. */
export function fieldsOf({ title, description, series, workflow, read }: NewEvent): Record<string, string> {
  const values = { title, description, isPartOf: series };
  const fields = Object.entries(values).flatMap(([id, value]) => (value === undefined ? [] : [{ id, value }]));
  const entries = read.map((role) => ({ allow: true, role, action: 'read' }));
  return {
    acl: JSON.stringify(entries.length > 0 ? entries : null),
    metadata: JSON.stringify([{ flavor: 'dublincore/episode', fields }]),
    processing: JSON.stringify({ workflow }),
  };
}
