import type { Client } from '../support/client.ts';
import type { TestServer } from '../support/server.ts';

/** What every suite works with: one running server and its administrator. */
export interface Product {
  server: TestServer;
  admin: Client;
}

/** Tests of one side of the product; the server runs when they do, not yet when they are described. */
export type Suite = (product: () => Product) => void;

/** How the server is configured. */
export const MAX_UPLOAD_BYTES = 16 * 2 ** 20;
export const UPLOAD_IDLE_SECONDS = 5;
