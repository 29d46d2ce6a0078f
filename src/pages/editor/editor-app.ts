import type { WebAppFolder } from '#platform/http/answer/web-app-folder.ts';
import type { WebApp } from '../web-app/web-app-answer.ts';

export const EDITOR_PATH = '/editor-ui';
const SETTINGS_FILE = 'editor-settings.toml';
/** The path of the settings in builds for Opencast. */
export const SETTINGS_PATH = `/ui/config/editor/${SETTINGS_FILE}`;

const SETTINGS = `[subtitles]
show = true
mainFlavor = "captions"

[subtitles.languages.english]
lang = "en"
type = "subtitle"

[subtitles.languages.german]
lang = "de"
type = "subtitle"

[thumbnail]
show = true
simpleMode = false
`;

/** The settings for demonstrations that a build brings along name another server and its password. */
const FOREIGN = /^\[opencast\][^[]*^\s*(?:url|name|password)\s*=/m;

/** Returns the application in the configured folder. */
export function editorApp(folder: WebAppFolder): WebApp {
  return { path: EDITOR_PATH, folder, settings: { file: SETTINGS_FILE, usual: SETTINGS, foreign: FOREIGN } };
}
