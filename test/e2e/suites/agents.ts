import { describe, expect, test } from 'vitest';
import type { Suite } from '../suite.ts';

const XML = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
<properties>
<entry key="capture.device.names">camera,B&#xfc;hne</entry>
<entry key="capture.device.timezone">America/New_York</entry>
</properties>`;
const ENTITY = '<!DOCTYPE properties [<!ENTITY a SYSTEM "file:///etc/passwd">]><properties/>';

/** How capture agents report over the wire, where servers differ in how they hand addresses and bodies on. */
export const agents: Suite = (product) => {
  describe('capture agents', () => {
    test.each([
      ['Hörsaal 1', 'H%C3%B6rsaal%201'],
      ['haus/raum', 'haus%2Fraum'],
      ['haus/configuration', 'haus%2fconfiguration'],
      ['100%', '100%25'],
      ['%2F', '%252F'],
      ['a+b', 'a+b'],
      ['a?b#c', 'a%3Fb%23c'],
    ])('report themselves as %s', async (name, encoded) => {
      const { admin } = product();
      const path = `/capture-admin/agents/${encoded}`;
      const body = new URLSearchParams({ state: 'idle', address: 'http://agent.test' });
      const report = await admin.fetch(path, { method: 'POST', body });
      expect([report.status, await report.text()]).toEqual([200, `${name} set to idle`]);
      const type = 'application/x-www-form-urlencoded';
      const configured = await admin.fetch(`${path}/configuration`, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: XML,
      });
      expect(configured.status, await configured.text()).toBe(200);
      expect(configured.headers.get('Content-Type')).toBe('text/xml; charset=utf-8');
      expect(await admin.json(`/api/agents/${encoded}`)).toMatchObject({
        agent_id: name,
        status: 'idle',
        inputs: ['camera', 'Bühne'],
        url: 'http://agent.test',
      });
    });

    test('are refused under a name that is no UTF-8, and with a document that declares entities', async () => {
      const { admin } = product();
      const body = new URLSearchParams({ state: 'idle' });
      expect((await admin.fetch('/capture-admin/agents/%FF', { method: 'POST', body })).status).toBe(400);
      const path = '/capture-admin/agents/hostile/configuration';
      const answer = await admin.fetch(path, { method: 'POST', body: ENTITY });
      expect([answer.status, await answer.text()]).toEqual([
        400,
        'The configuration contains an XML declaration; only <!DOCTYPE properties SYSTEM "..."> is allowed.',
      ]);
    });

    test('report in parallel, and none is lost', async () => {
      const { admin } = product();
      const report = () =>
        admin.fetch('/capture-admin/agents/busy', {
          method: 'POST',
          body: new URLSearchParams({ state: 'capturing' }),
        });
      const answers = await Promise.all(Array.from({ length: 50 }, report));
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      expect(await admin.json('/api/agents/busy')).toMatchObject({ status: 'capturing' });
    });
  });
};
