/** What a process reaches out to: `host:port`, and sockets and files that connections need. */
export interface Endpoints {
  hosts: string[];
  /** Unix domain sockets. */
  sockets: string[];
  /** Certificates and keys. */
  files: string[];
}

/** A host and a port as one text, IPv6 addresses in brackets. */
export function hostAndPort(host: string, port: number | string): string {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare.includes(':') ? `[${bare}]:${port}` : `${bare}:${port}`;
}
