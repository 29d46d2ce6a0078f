import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { z } from 'zod';
import { verifyConsumerLaunch } from '#access/launches/consumer-launch.ts';
import type { LaunchPlatform } from '#access/launches/launch-keys.ts';
import { INVALID_LAUNCH, UNVERIFIED_LAUNCH } from '#access/launches/launch-refusals.ts';
import { launchedUser, type VerifiedLaunch } from '#access/launches/verified-launch.ts';
import { LAUNCH_PROVIDER, type LaunchedUser } from '#access/sessions/launched-accounts.ts';
import { crossSiteCookie } from '#access/sessions/sessions.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { publicationLinks, relativeTo } from '../urls/relative-urls.ts';
import { choicePage } from './deep-link.endpoint.ts';
import { hiddenFields, launchPage, launchPageHeaders } from './launch-pages.ts';
import { findPublishedPage } from './launch-recordings.queries.ts';
import { type LaunchServices, MAX_LAUNCH_BYTES, requireLaunches } from './launch-services.ts';
import { type LaunchTarget, LTI, launchTarget } from './launch-target.ts';

const STATE_SECONDS = 600;
/** The time in which a launch may continue in another window. */
const START_SECONDS = 300;
const START = `${LTI}/start`;
const PLATFORM_LAUNCH = `${LTI}/launch`;
const MOST_SHOWN = 200;

/** A verified launch, on its way from the launch to the page. */
interface Start extends LaunchedUser {
  target: LaunchTarget;
}

interface State {
  platform: string;
}

/** Launches by LTI 1.1. */
export const consumerLaunch = defineEndpoint({
  method: 'post',
  path: LTI,
  access: 'public',
  fromEverySite: true,
  form: { schema: z.object({}), maxBytes: MAX_LAUNCH_BYTES, example: {} },
  handle: async ({ c, fieldList }, services: LaunchServices) => {
    const { consumers } = requireLaunches(services);
    const { pathname, search } = new URL(c.req.url);
    const url = `${services.addresses.publicUrl}${pathname}${search}`;
    const launch = await verifyConsumerLaunch(
      { url, fields: await fieldList() },
      { consumers, database: services.database },
    );
    return beginLaunch(c, services, launch, { isBound: true });
  },
});

const Login = z.object({
  iss: z.string("The parameter 'iss' is missing; it is the issuer of the learning platform."),
  login_hint: z.string("The parameter 'login_hint' is missing."),
  target_link_uri: z.string().optional(),
  client_id: z.string().optional(),
  lti_message_hint: z.string().optional(),
});

/** Begins a launch by LTI 1.3: redirects to the platform for an ID token. */
async function initiateLogin(c: Context, services: LaunchServices, hint: z.infer<typeof Login>): Promise<Response> {
  const { platforms, tokens } = requireLaunches(services);
  const matching = platforms.filter(
    ({ issuer, clientId }) => issuer === hint.iss && (hint.client_id ?? clientId) === clientId,
  );
  const [platform] = matching;
  if (!platform || matching.length > 1) {
    throw INVALID_LAUNCH("no configured platform has its 'iss' and 'client_id'");
  }
  const { token: state, id: nonce } = await tokens.sign(
    'state',
    { platform: platform.name } satisfies State,
    STATE_SECONDS,
  );
  setCookie(c, stateCookie(nonce), '1', { ...crossSiteCookie(isSecure(services)), maxAge: STATE_SECONDS });
  const url = new URL(platform.authorization);
  const parameters = {
    ...{ scope: 'openid', response_type: 'id_token', response_mode: 'form_post', prompt: 'none' },
    ...{ client_id: platform.clientId, redirect_uri: services.addresses.publicUrl + PLATFORM_LAUNCH },
    ...{ login_hint: hint.login_hint, state, nonce },
    ...(hint.lti_message_hint !== undefined && { lti_message_hint: hint.lti_message_hint }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  c.header('Cache-Control', 'no-store');
  return c.redirect(url.href, 303);
}

const stateCookie = (nonce: string) => `inlet-state-${nonce}`;

const isSecure = ({ addresses }: LaunchServices) => addresses.publicUrl.startsWith('https:');

const LOGIN = { path: `${LTI}/login`, access: 'public', fromEverySite: true } as const;

export const loginByLink = defineEndpoint({
  ...LOGIN,
  method: 'get',
  query: Login,
  handle: ({ c, query }, services: LaunchServices) => {
    requireLaunches(services);
    return initiateLogin(c, services, query());
  },
});

export const loginByForm = defineEndpoint({
  ...LOGIN,
  method: 'post',
  form: { schema: Login, maxBytes: MAX_LAUNCH_BYTES, example: { iss: 'https://lms.example.org', login_hint: '1' } },
  handle: async ({ c, form }, services: LaunchServices) => {
    requireLaunches(services);
    return initiateLogin(c, services, await form());
  },
});

/** Launches by LTI 1.3, with the ID token of the platform. */
export const platformLaunch = defineEndpoint({
  method: 'post',
  path: PLATFORM_LAUNCH,
  access: 'public',
  fromEverySite: true,
  form: {
    schema: z.object({
      state: z.string().default(''),
      id_token: z.string().optional(),
      error: z.string().optional(),
    }),
    maxBytes: MAX_LAUNCH_BYTES,
    example: { state: 'eyJhbGciOiJIUzI1NiJ9', id_token: 'eyJhbGciOiJSUzI1NiJ9' },
  },
  handle: async ({ c, form }, services: LaunchServices) => {
    const { platforms, tokens, verifier } = requireLaunches(services);
    const { state, id_token, error } = await form();
    const { facts, id: nonce } = await tokens.open<State>('state', state);
    const platform: LaunchPlatform | undefined = platforms.find(({ name }) => name === facts.platform);
    if (!platform) throw UNVERIFIED_LAUNCH('its platform is no longer configured');
    if (id_token === undefined) {
      const reason = JSON.stringify((error ?? '').slice(0, MOST_SHOWN));
      throw INVALID_LAUNCH(`the platform sent no 'id_token', but the error ${reason}`);
    }
    const launch = await verifier.verify(platform, id_token, nonce);
    // Only now: a forged token must not use up the state.
    await tokens.use('state', state);
    const isBound = deleteCookie(c, stateCookie(nonce), crossSiteCookie(isSecure(services))) !== undefined;
    return beginLaunch(c, services, launch, { isBound });
  },
});

/**
 * Begins the session of a launch and leads to its page, or to the choice of a recording.
 *
 * @param isBound false if the browser did not return the cookie of the login: another site may have sent the form, so a
 * person has to continue
 */
async function beginLaunch(
  c: Context,
  services: LaunchServices,
  launch: VerifiedLaunch,
  { isBound }: { isBound: boolean },
): Promise<Response> {
  const { tokens, accounts } = requireLaunches(services);
  const { directory, sessions, addresses } = services;
  const user = await launchedUser(launch, { directory, accounts });
  c.set('account', user.username);
  if (launch.deepLink) return choicePage(c, services, { launch, user, request: launch.deepLink });
  const tool = launch.custom.get('tool');
  const target = launchTarget({ tool, url: launch.targetUrl, parameters: launch.custom }, addresses.publicUrl);
  if (!target) {
    const shown = JSON.stringify((tool || launch.targetUrl || '').slice(0, MOST_SHOWN));
    throw INVALID_LAUNCH(`its target ${shown} is not a page of this server that launches may open`);
  }
  if (isBound) await sessions.beginLaunched(c, user);
  const { token } = await tokens.sign('start', { ...user, target } satisfies Start, START_SECONDS);
  c.header('Cache-Control', 'no-store');
  return c.redirect(`${relativeTo(c, START)}?token=${token}`, 303);
}

/** Leads to the page of a launch, or to a new window if the browser keeps no cookies of frames. */
export const startInFrame = defineEndpoint({
  method: 'get',
  path: START,
  access: 'public',
  query: z.object({ token: z.string().default('') }),
  handle: async ({ c, query }, services: LaunchServices) => {
    const { tokens } = requireLaunches(services);
    const { token } = query();
    const { facts } = await tokens.open<Start>('start', token);
    const { signedIn } = c.var;
    if (signedIn?.provider === LAUNCH_PROVIDER && signedIn.username === facts.username) {
      return continueLaunch(c, services, token);
    }
    const content = html`<p>Your browser does not keep the sign-in of this page. Continue in a new window.</p>
<form method="post" action="${relativeTo(c, START)}" target="_blank">${hiddenFields({ token })}
<button>Open in a new window</button></form>`;
    return c.html(launchPage(facts.launch.name || 'Continue', content), 200, launchPageHeaders());
  },
});

/** Continues a launch in a new window, where the browser keeps the cookie of the session. */
export const startInWindow = defineEndpoint({
  method: 'post',
  path: START,
  access: 'public',
  form: {
    schema: z.object({ token: z.string() }),
    maxBytes: MAX_LAUNCH_BYTES,
    example: { token: 'eyJhbGciOiJIUzI1NiJ9' },
  },
  handle: async ({ c, form }, services: LaunchServices) => {
    requireLaunches(services);
    return continueLaunch(c, services, (await form()).token);
  },
});

/** Adds a launch, once, to the session of the browser, which may not have it yet, and redirects to its page. */
async function continueLaunch(c: Context, services: LaunchServices, token: string): Promise<Response> {
  const { facts } = await requireLaunches(services).tokens.use<Start>('start', token);
  const principal = await services.sessions.beginLaunched(c, facts);
  if (!principal) throw UNVERIFIED_LAUNCH('its user is no longer allowed');
  c.set('principal', principal);
  return leadTo(c, services, facts.target);
}

/** Redirects to the page of a launch. @throws {HttpError} 404 for a recording that is not published for the user */
async function leadTo(c: Context, { database, addresses }: LaunchServices, target: LaunchTarget): Promise<Response> {
  c.header('Cache-Control', 'no-store');
  if ('path' in target) return c.redirect(relativeTo(c, target.path), 303);
  if ('list' in target) {
    const query = target.list.series ? `?${new URLSearchParams({ series: target.list.series })}` : '';
    return c.redirect(`${relativeTo(c, `${LTI}/series`)}${query}`, 303);
  }
  const publicationId = await findPublishedPage(database, c.var.principal, target.recording);
  if (!publicationId) {
    throw notFound('The recording is not published, or the course has no access to it.');
  }
  return c.redirect(publicationLinks(c, addresses).watch(publicationId), 303);
}

/** The public key of this server, with which platforms verify its messages. */
export const launchKeys = defineEndpoint({
  method: 'get',
  path: `${LTI}/keys`,
  access: 'public',
  handle: ({ c }, services: LaunchServices) => {
    return c.json({ keys: [requireLaunches(services).toolKey.jwk] }, 200, { 'Cache-Control': 'max-age=600' });
  },
});
