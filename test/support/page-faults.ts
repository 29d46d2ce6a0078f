import type { Page } from 'playwright-core';

/** Browsers say so of a field that a test has filled in before they got to it. */
export const AUTOFOCUS = /^Autofocus processing was blocked/;

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
