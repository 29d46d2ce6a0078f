import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** What Linux calls the states of connections. */
const STATES: Readonly<Record<string, string>> = {
  '01': 'open',
  '08': 'left by the other side',
  '0A': 'listening',
};

/** How many files a process has open of each kind: connections by the port of the other side, files by their folder. */
export function openFiles(pid: number): Record<string, number> {
  const folder = `/proc/${pid}/fd`;
  const connections = connectionsOf(pid);
  const counts: Record<string, number> = {};
  for (const fd of readdirSync(folder)) {
    try {
      const link = readlinkSync(`${folder}/${fd}`);
      const kind = connections.get(link) ?? (link.startsWith('/') ? dirname(link) : link.replace(/:?\[\d+\]/, ''));
      counts[kind] = (counts[kind] ?? 0) + 1;
    } catch {
      // It has been closed meanwhile.
    }
  }
  return counts;
}

/** By `socket:[inode]`. */
function connectionsOf(pid: number): Map<string, string> {
  const found = new Map<string, string>();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1)) {
      const [, , remote = '', state = '', , , , , , inode] = line.trim().split(/\s+/);
      const port = Number.parseInt(remote.slice(remote.indexOf(':') + 1), 16);
      found.set(`socket:[${inode}]`, `connection to ${port}, ${STATES[state] ?? state}`);
    }
  }
  return found;
}
