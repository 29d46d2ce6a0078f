import type { Recording } from './recording.ts';

/** The recordings that the browser remembers, of one account at one server. */
export interface Records {
  /** In the order in which they were added. */
  all(): Recording[];
  save(recording: Recording): void;
  remove(id: string): void;
}

/**
 * Keeps recordings in the browser, each by itself, so that two windows do not overwrite each other's. What the browser
 * does not keep (it is full, or set not to) is not there after a reload, and nothing else is lost.
 *
 * @param base where the server's paths begin: several may share an origin
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createRecords(base: string, account: string): Records {
  const PREFIX = `inlet upload ${base} ${encodeURIComponent(account)} `;
  const parse = (text: string | null): Recording[] => {
    try {
      const recording = JSON.parse(text ?? 'null') as Recording | null;
      return recording && Array.isArray(recording.files) ? [recording] : [];
    } catch {
      return [];
    }
  };
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch {
      return undefined;
    }
  };
  return {
    all: () => {
      const keys = attempt(() => Object.keys(localStorage)) ?? [];
      return keys
        .filter((key) => key.startsWith(PREFIX))
        .flatMap((key) => parse(localStorage.getItem(key)))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    },
    save: (recording) => {
      attempt(() => localStorage.setItem(PREFIX + recording.id, JSON.stringify(recording)));
    },
    remove: (id) => {
      attempt(() => localStorage.removeItem(PREFIX + id));
    },
  };
}
