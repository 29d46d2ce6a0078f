import type { Command } from '../command.ts';

/** All commands by name, loaded on demand. */
export const commands = {
  upload: async () => (await import('./upload.ts')).uploadCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  workflows: async () => (await import('./workflows.ts')).workflowsCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  import: async () => (await import('./import.ts')).importCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  user: async () => (await import('./program-commands.ts')).userCommand,
  migrate: async () => (await import('./program-commands.ts')).migrateCommand,
  main: async () => (await import('./program-commands.ts')).roleCommand('main'),
  api: async () => (await import('./program-commands.ts')).roleCommand('api'),
  worker: async () => (await import('./program-commands.ts')).roleCommand('worker'),
  demo: async () => (await import('./program-commands.ts')).demoCommand,
} satisfies Record<string, () => Promise<Command>>;
