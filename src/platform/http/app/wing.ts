import type { Hono, MiddlewareHandler } from 'hono';
import type { Endpoint } from '../endpoint/endpoint.ts';
import type { Area } from './app.ts';

/** The middleware that wings guard their areas with. */
export interface Guards {
  trusted: readonly string[];
  /** Accepts credentials of programs. */
  byProgram: MiddlewareHandler;
  /** Accepts credentials of programs, and sessions. */
  byAnyone: MiddlewareHandler;
  /** Accepts the same on pages, where responses prompt for no password. */
  onPages: MiddlewareHandler;
  /** Requires the role that the endpoint declares. */
  ask: MiddlewareHandler;
  /** Lets administrators act as another account. */
  runAs: MiddlewareHandler;
}

/** A removable part of the server: its folder and its lines in the routes. */
export interface Wing<Services> {
  endpoints: readonly Endpoint<Services>[];
  areas(guards: Guards): readonly Area[];
  mounted(services: Services): readonly Hono[];
}
