import type { Command } from './command.ts';

/** All commands by name, loaded on demand. */
export const commands = {
  upload: async () => (await import('./upload.ts')).uploadCommand,
  events: async () => (await import('./events.ts')).eventsCommand,
  workflows: async () => (await import('./workflows.ts')).workflowsCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  user: async () => (await import('./others.ts')).userCommand,
  migrate: async () => (await import('./others.ts')).migrateCommand,
  main: async () => (await import('./others.ts')).roleCommand('main'),
  api: async () => (await import('./others.ts')).roleCommand('api'),
  worker: async () => (await import('./others.ts')).roleCommand('worker'),
  demo: async () => (await import('./others.ts')).demoCommand,
} satisfies Record<string, () => Promise<Command>>;
