import type { Context } from 'hono';
import { html } from 'hono/html';
import { ADMINISTRATORS } from '#access/roles/api-roles.ts';
import type { Html } from '#platform/http/answer/page.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { operatorPage } from '../frame/operator-page.ts';
import { publicationLinks } from '../frame/page-elements.ts';
import { agentPage, allPage } from './agents-pages.ts';
import { AgentsQuery, type AgentsServices, addressOf, REFRESH } from './agents-query.ts';
import { STYLE } from './agents-style.ts';

/** Shows operators the capture agents: their state, their failed recordings and their schedules. */
export const operatorAgents = defineEndpoint({
  method: 'get',
  path: '/admin/agents',
  access: ADMINISTRATORS,
  query: AgentsQuery,
  handle: async ({ c, query }, services: AgentsServices) => {
    const asked = query();
    const setting = { now: new Date(), watchAddress: publicationLinks(c, services.addresses).watch };
    const { agent } = asked;
    const { title, content, style } =
      agent === undefined
        ? await allPage(services, asked, setting)
        : await agentPage(services, { ...asked, agent }, setting);
    const whole = html`${content}
<footer><nav aria-label="Further pages">${agent === undefined ? '' : html`<a href="${addressOf({})}">All capture agents</a>`}${refreshLink(c)}</nav></footer>`;
    return operatorPage(c, {
      title: html`<bdi>${title}</bdi>`,
      name: title,
      content: whole,
      style: STYLE + style,
      current: agent === undefined ? 'admin/agents' : undefined,
      refresh: asked.refresh,
    });
  },
});

/** Refreshing is off by default, because it disturbs people who use a screen reader or type. */
function refreshLink(c: Context): Html {
  const { refresh, ...others } = c.req.query();
  return refresh === undefined
    ? html`<a href="${addressOf({ ...others, refresh: REFRESH })}">Refresh this page every ${REFRESH} seconds</a>`
    : html`<a href="${addressOf(others)}">Stop to refresh this page every ${REFRESH} seconds</a>`;
}
