import { OLD_PLAYERS } from '../watch/old-players.ts';

/** The page that a launch leads to: a path of this server, or what a page of the reference shows. */
export type LaunchTarget = { path: string } | { recording: string } | { list: { series: string | undefined } };

/** The path of launches, and of the list of recordings below it. */
export const LTI = '/lti';

/** Pages of this server that launches may lead to. */
const OWN = /^\/(?:(?:watch|embed)\/[^/]+|upload|studio(?:\/.*)?|editor-ui\/index\.html)$/;
/** Players of the reference, which take the event as a parameter. */
const PLAYERS = ['/ltitools/player/index.html', ...OLD_PLAYERS];
/** Pages of the reference with lists of recordings, and the addresses of launches that name no page. */
const LISTS =
  /^\/(?:ltitools(?:\/(?:series\/)?(?:index\.html)?)?|engage\/ui\/?(?:index\.html)?|lti(?:\/(?:launch|series)?)?)?$/;

/**
 * Finds the page of a launch by its parameter `tool`, as the reference names it, or by its URL. The other parameters of
 * the launch are those of the page.
 *
 * @returns undefined for a page of another server, or a path that is no page
 */
export function launchTarget(
  {
    tool,
    url,
    parameters,
  }: { tool: string | undefined; url: string | undefined; parameters: ReadonlyMap<string, string> },
  publicUrl: string,
): LaunchTarget | undefined {
  const page = ownPage(decoded(tool?.trim() || url || LTI), publicUrl);
  if (!page) return undefined;
  const query = page.searchParams;
  for (const [name, value] of parameters) if (name !== 'tool' && !query.has(name)) query.set(name, value);
  const path = page.pathname.replace(/(?<=.)\/$/, '');
  const subtool = path === '/ltitools' || path === '/ltitools/index.html' ? query.get('subtool') : null;
  const played = /^\/play\/([^/]+)$/.exec(path)?.[1];
  if (played !== undefined) return { recording: decodeURIComponent(played) };
  if (PLAYERS.includes(path) || subtool === 'player' || (isLaunch(path) && query.has('id'))) {
    const id = query.get('id');
    return id ? { recording: id } : undefined;
  }
  if (path === '/ltitools/upload/index.html' || subtool === 'upload') return { path: '/upload' };
  if (OWN.test(path)) return { path: `${page.pathname}${query.size > 0 ? `?${query}` : ''}` };
  return LISTS.test(path) ? { list: { series: query.get('series') || undefined } } : undefined;
}

const isLaunch = (path: string) => path === LTI || path === `${LTI}/launch`;

/** Stud.IP encodes the parameter twice, and Moodle separates parameters by semicolons. */
function decoded(tool: string): string {
  const text = /^[^/?]*%2F/i.test(tool) ? decodeOnce(tool.replaceAll('+', ' ')) : tool;
  return text.replace(/\.html;/, '.html?');
}

function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses a path, or a URL of this server. A second slash, or a backslash, would begin a host name. */
function ownPage(text: string, publicUrl: string): URL | undefined {
  if (/[\\\p{Cc}]/u.test(text) || text.startsWith('//')) return undefined;
  const base = new URL(publicUrl);
  const isUrl = /^[a-z][a-z\d+.-]*:/i.test(text);
  const whole = isUrl ? text : `${base.origin}/${text.replace(/^\//, '')}`;
  if (!URL.canParse(whole)) return undefined;
  const page = new URL(whole);
  if (page.origin !== base.origin || page.username !== '' || page.pathname.startsWith('//')) return undefined;
  const prefix = base.pathname.replace(/\/$/, '');
  const isBelow = page.pathname === prefix || page.pathname.startsWith(`${prefix}/`);
  if (isUrl && !isBelow) return undefined;
  if (isBelow) page.pathname = page.pathname.slice(prefix.length) || '/';
  return hasValidEscapes(page.pathname) ? page : undefined;
}

function hasValidEscapes(path: string): boolean {
  try {
    return decodeURIComponent(path).isWellFormed();
  } catch {
    return false;
  }
}
