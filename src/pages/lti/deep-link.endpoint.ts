import type { Context } from 'hono';
import { html } from 'hono/html';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { INSTRUCTORS_ONLY, UNVERIFIED_LAUNCH } from '#access/launches/launch-refusals.ts';
import { contextRoleNames, isInstructor } from '#access/launches/launch-roles.ts';
import { CLAIM, DEEP_LINK_CLAIM, LINK_TYPE } from '#access/launches/platform-launch.ts';
import type { DeepLinkRequest, VerifiedLaunch } from '#access/launches/verified-launch.ts';
import type { Principal } from '#access/principal.ts';
import type { LaunchedUser } from '#access/sessions/launched-accounts.ts';
import type { Html } from '#platform/http/answer/html-page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound } from '#platform/http/errors/errors.ts';
import { relativeTo } from '../urls/relative-urls.ts';
import { autoSubmittedForm, formatStart, hiddenFields, launchPage, launchPageHeaders } from './launch-pages.ts';
import { findTitle, listRecordings, listSeries } from './launch-recordings.queries.ts';
import { type LaunchServices, MAX_LAUNCH_BYTES, requireLaunches } from './launch-services.ts';
import { LTI } from './launch-target.ts';

const CHOOSE = `${LTI}/choose`;
const CHOICE_SECONDS = 3600;
const RESPONSE_SECONDS = 300;
/** Recordings and series that the page shows. */
const SHOWN = 25;
const MOST_WORDS = 200;

/** A request to choose, which the form of the page carries: frames may have no cookies. */
interface Choice extends LaunchedUser {
  request: DeepLinkRequest;
}

/** Shows the recordings and series that an instructor may choose for a course. @throws {HttpError} 403 for others */
export async function choicePage(
  c: Context,
  services: LaunchServices,
  { launch, user, request }: { launch: VerifiedLaunch; user: LaunchedUser; request: DeepLinkRequest },
): Promise<Response> {
  if (!isInstructor(contextRoleNames(launch.roles))) throw INSTRUCTORS_ONLY();
  const { token } = await requireLaunches(services).tokens.sign(
    'choice',
    { ...user, request } satisfies Choice,
    CHOICE_SECONDS,
  );
  const principal = await principalOf(services, user);
  return showChoices(c, services, { token, principal, words: '' });
}

async function principalOf(services: LaunchServices, user: LaunchedUser): Promise<Principal> {
  const account = await requireLaunches(services).accounts.find(user);
  if (!account) throw UNVERIFIED_LAUNCH('its user is no longer allowed');
  return account.principal;
}

async function showChoices(
  c: Context,
  { database }: LaunchServices,
  { token, principal, words }: { token: string; principal: Principal; words: string },
): Promise<Response> {
  const [series, { recordings, hasMore }] = await Promise.all([
    listSeries(database, principal, { words, take: SHOWN }),
    listRecordings(database, principal, { words, skip: 0, take: SHOWN }),
  ]);
  const action = relativeTo(c, CHOOSE);
  const form = (content: Html) =>
    html`<form method="post" action="${action}">${hiddenFields({ token })}${content}</form>`;
  const search = html`<div class="row"><label>Search
<input name="words" value="${words}" maxlength="${MOST_WORDS}"></label><button>Search</button></div>`;
  const choices = html`<h2>Recordings</h2>
${recordings.length === 0 ? html`<p>No published recording matches.</p>` : ''}
<ul>${recordings.map(({ id, title, start }) => choiceHtml(`recording:${id}`, title, formatStart(start)))}</ul>
${hasMore ? html`<p>Search to find more recordings.</p>` : ''}
<h2>Series</h2>
${series.length === 0 ? html`<p>No series matches.</p>` : ''}
<ul>${series.map(({ id, title }) => choiceHtml(`series:${id}`, title, 'All recordings of the series'))}</ul>`;
  return c.html(launchPage('Choose a recording', html`${form(search)}${form(choices)}`), 200, launchPageHeaders());
}

function choiceHtml(choice: string, title: string, facts: string): Html {
  return html`<li><button name="choice" value="${choice}">${title || 'Untitled'}<small>${facts}</small></button></li>`;
}

/** Searches for recordings, or returns the chosen one to the platform. The token of the page authenticates. */
export const choose = defineEndpoint({
  method: 'post',
  path: CHOOSE,
  access: 'public',
  form: {
    schema: z.object({
      token: z.string(),
      words: z.string().max(MOST_WORDS).default(''),
      choice: z.string().optional(),
    }),
    maxBytes: MAX_LAUNCH_BYTES,
    example: { token: 'eyJhbGciOiJIUzI1NiJ9', words: 'algebra' },
  },
  handle: async ({ c, form }, services: LaunchServices) => {
    const { tokens } = requireLaunches(services);
    const { token, words, choice } = await form();
    const { facts } = await tokens.open<Choice>('choice', token);
    c.set('account', facts.username);
    const principal = await principalOf(services, facts);
    if (choice === undefined) return showChoices(c, services, { token, principal, words });
    const [, kind, id = ''] = /^(recording|series):(.+)$/.exec(choice) ?? [];
    const title = kind && (await findTitle(services.database, principal, kind === 'series' ? 'series' : 'events', id));
    if (title === undefined) throw notFound('The chosen recording does not exist.');
    const tool =
      kind === 'series'
        ? `/ltitools/series/index.html?series=${encodeURIComponent(id)}`
        : `/play/${encodeURIComponent(id)}`;
    return returnChoice(c, services, facts, { title: title || 'Untitled', tool });
  },
});

/** Returns a page that sends the signed choice to the platform. */
async function returnChoice(
  c: Context,
  services: LaunchServices,
  { launch, request }: Choice,
  { title, tool }: { title: string; tool: string },
): Promise<Response> {
  const { platforms, toolKey } = requireLaunches(services);
  const platform = platforms.find(({ name }) => name === launch.platform);
  if (!platform) throw UNVERIFIED_LAUNCH('its platform is no longer configured');
  const item = { type: LINK_TYPE, title, url: services.addresses.publicUrl + tool, custom: { tool } };
  const JWT = await new SignJWT({
    nonce: crypto.randomUUID(),
    [`${CLAIM}message_type`]: 'LtiDeepLinkingResponse',
    [`${CLAIM}version`]: '1.3.0',
    [`${CLAIM}deployment_id`]: request.deploymentId,
    [`${DEEP_LINK_CLAIM}content_items`]: [item],
    ...(request.data !== undefined && { [`${DEEP_LINK_CLAIM}data`]: request.data }),
  })
    .setProtectedHeader({ alg: 'RS256', kid: toolKey.jwk.kid })
    .setIssuer(platform.clientId)
    .setAudience(platform.issuer)
    .setIssuedAt()
    .setExpirationTime(`${RESPONSE_SECONDS}s`)
    .sign(toolKey.privateKey);
  const content = html`<p>${title}</p>${autoSubmittedForm(request.returnUrl, { JWT }, 'Add to the course')}`;
  return c.html(launchPage('Add to the course', content), 200, launchPageHeaders(new URL(request.returnUrl).origin));
}
