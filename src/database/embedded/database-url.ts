/** The only role, and the name of its database. */
export const ROLE = 'inlet';

export function databaseUrl(port: number, password: string, database: string = ROLE): string {
  return `postgres://${ROLE}:${password}@127.0.0.1:${port}/${database}`;
}
