const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be compared with a column of the type `uuid`; PostgreSQL refuses others. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
