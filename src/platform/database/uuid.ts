const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reports whether a text can be compared with a `uuid` column; PostgreSQL rejects other texts. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
