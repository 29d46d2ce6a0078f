import type { Page } from 'playwright-core';

/**
 * Collects what must not happen on a page: messages on its console, errors of its scripts, and requests to another host
 * than its own.
 *
 * @param origin its own
 * @param isUsual whether a message on the console is no fault
 */
export function faultsOf(page: Page, origin: string, isUsual = (_: string) => false): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (!isUsual(message.text())) faults.push(message.text());
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) faults.push(`request to ${asked}`);
  });
  return faults;
}
