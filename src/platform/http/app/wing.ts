import type { Hono, MiddlewareHandler } from 'hono';
import type { Endpoint } from '../endpoint/endpoint.ts';
import type { Area } from './app.ts';

/** The layers that areas are guarded by. */
export interface Guards {
  /** Origins of other sites whose pages may read answers. */
  trusted: readonly string[];
  /** Accepts credentials of programs. */
  byProgram: MiddlewareHandler;
  /** Accepts credentials of programs, and sessions. */
  byAnyone: MiddlewareHandler;
  /** Accepts the same on pages, whose answers ask for no password. */
  onPages: MiddlewareHandler;
  /** Asks for the role that the endpoint declares. */
  ask: MiddlewareHandler;
  /** Lets administrators act for another account. */
  runAs: MiddlewareHandler;
}

/** A part of the server that can be taken away as a whole: its folder and its lines in the routes. */
export interface Wing<Services> {
  /** Endpoints that the reference does not list. */
  endpoints: readonly Endpoint<Services>[];
  areas(guards: Guards): readonly Area[];
  /** Applications of others, with paths of their own. */
  mounted(services: Services): readonly Hono[];
}
