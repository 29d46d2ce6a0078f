import type { Config } from '#platform/config/config.ts';

/** Where operators look, and how they sign in. A password that somebody chose is not shown. */
export function dashboardHint(config: Config, chosenPassword: boolean): string {
  const password = chosenPassword ? 'the password of ADMIN_PASSWORD' : `password ${config.admin.password}`;
  return `Dashboard  ${config.publicUrl}/admin/queues (account ${config.admin.username}, ${password})`;
}
