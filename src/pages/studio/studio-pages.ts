import { Hono } from 'hono';
import type { WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import { webAppAnswer } from '../web-app/web-app-answer.ts';

const PATH = '/studio';
/** The recorder uses the server it was loaded from, with the session of the user. */
const SETTINGS = `[opencast]
serverUrl = "/"
loginProvided = true
`;
const DEVICES = 'camera=(self), microphone=(self), display-capture=(self), fullscreen=(self)';

/** Serves the recorder for browsers below `/studio/`, if its folder is configured. */
export function studioPages(folder: WebAppFolder | undefined): Hono {
  const app = new Hono();
  if (!folder) return app;
  const studio = {
    path: PATH,
    folder,
    settings: { file: 'settings.toml', usual: SETTINGS },
    pageHeaders: { 'Permissions-Policy': DEVICES },
  };
  return app.get(`${PATH}/*`, (c) => webAppAnswer(c, studio));
}
