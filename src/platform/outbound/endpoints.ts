/** Targets that a process connects to: `host:port`, sockets and files. */
export interface Endpoints {
  hosts: string[];
  sockets: string[];
  files: string[];
}

/** Joins a host and a port, with brackets around IPv6. */
export function hostAndPort(host: string, port: number | string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`;
}
