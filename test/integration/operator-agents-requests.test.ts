import { describe, expect, test } from 'vitest';
import { insertAgent, insertManyStates, insertPackage, insertRecording } from '../support/agents-page.ts';
import { agentsPageForThisFile } from '../support/agents-page-app.ts';
import { AGENTS_PATH, HOSTILE } from '../support/agents-page-words.ts';

const page = agentsPageForThisFile();
const { text } = page;

describe('the page', () => {
  test('shows names as they are, whatever is in them', async () => {
    await insertAgent(page.app.database, HOSTILE, { url: HOSTILE, state: 'capturing' });
    await insertRecording(page.app.database, HOSTILE, [-30, 60], { title: HOSTILE, state: 'uploading' });
    await insertRecording(page.app.database, HOSTILE, [70, 80], { title: HOSTILE });
    await insertRecording(page.app.database, HOSTILE, [-90, -80], { title: HOSTILE, state: 'upload_error' });
    await insertPackage(page.app.database, HOSTILE, { bytes: 1, minutes: 1 });
    for (const query of ['', `?agent=${encodeURIComponent(HOSTILE)}`, `?q=${encodeURIComponent(HOSTILE)}`]) {
      const shown = await text(query);
      expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(shown).not.toMatch(/<script|<img src=x|"[^"<]*' onload/);
    }
  });

  test.each([
    [
      '?week=2026-W54&agent=Hall',
      400,
      /^The parameter 'week' is "2026-W54"; allowed is a week such as 2026-W48, or a date in it/,
    ],
    ['?week=next&agent=Hall', 400, /^The parameter 'week' is "next"/],
    [
      '?day=2026-02-30',
      400,
      /^The parameter 'day' is "2026-02-30"; allowed is a date such as 2026-11-25 between/,
    ],
    ['?refresh=1', 400, /^The parameter 'refresh' is "1"; allowed is 30\.$/],
    ['?q=%00', 400, /^The parameter 'q' is "\\u0000"; allowed are up to 255 characters/],
    [`?q=${'x'.repeat(600)}`, 400, /^The parameter 'q' is "x{100}"/],
    ['?agent=a%0Ab', 400, /^The parameter 'agent' is "a\\nb"/],
    ['?agent=nobody', 404, /^There is no capture agent 'nobody'\.$/],
    ['?agent=', 404, /^There is no capture agent ''\.$/],
  ])('refuses %s with %i and a sentence', async (query, status, sentence) => {
    await insertAgent(page.app.database, 'Hall');
    const answer = await page.app.request(AGENTS_PATH + query);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(sentence);
    const shown = await page.app.request(AGENTS_PATH + query, { headers: { Accept: 'text/html' } });
    expect(shown.status).toBe(status);
    expect(shown.headers.get('Content-Type')).toContain('text/html');
  });

  test('takes bytes that are no text, and dates at both ends, without failing', async () => {
    await insertAgent(page.app.database, 'Hall', { time_zone: 'Pacific/Kiritimati' });
    for (const query of [
      '?q=%FF',
      '?q=%ED%A0%80',
      '?agent=Hall&week=1970-01-02',
      '?agent=Hall&week=9998-12-31',
      '?day=1970-01-02',
      '?day=9998-12-31',
      '?other=1',
      '?week=2026-W01',
    ]) {
      expect((await page.app.request(AGENTS_PATH + query)).status).toBe(200);
    }
    expect((await page.app.request(`${AGENTS_PATH}?agent=%FF`)).status).toBe(404);
  });

  test('loads itself anew only when it is asked to', async () => {
    expect((await page.app.request(AGENTS_PATH)).headers.get('Refresh')).toBeNull();
    const answer = await page.app.request(`${AGENTS_PATH}?refresh=30&q=x`);
    expect(answer.headers.get('Refresh')).toBe('30');
    expect(await answer.text()).toContain('href="?q=x">Stop');
    expect(await text('?q=x')).toContain('href="?q=x&amp;refresh=30">Refresh');
  });

  test('is for administrators, not kept, and may be put into no frame', async () => {
    const Authorization = await page.app.account('agent', 'ROLE_CAPTURE_AGENT', 'ROLE_ADMIN_UI');
    expect((await page.app.request(AGENTS_PATH, { headers: { Authorization } })).status).toBe(403);
    expect((await page.app.anonymous(AGENTS_PATH)).status).toBe(401);
    await insertManyStates(page.app.database);
    const answer = await page.app.request(AGENTS_PATH);
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const policy = answer.headers.get('Content-Security-Policy');
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(await answer.text()).not.toMatch(/ style=|<script| on\w+="/);
    expect(await (await page.app.request('/admin')).text()).toContain(
      '<a href="./admin/agents">Capture agents</a>',
    );
  });
});
