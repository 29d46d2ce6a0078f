import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { eventFields } from '../../support/form.ts';
import type { Suite } from '../suite.ts';

export const logs: Suite = (product) => {
  describe('the log', () => {
    test('follows an upload into the worker by the identifier of its request', async () => {
      const { admin, server } = product();
      const requestId = 'follow-me-1';
      const id = await admin.create(eventFields(), { 'X-Request-Id': requestId });
      await admin.processed(id);
      // What a process writes comes through a pipe, and so perhaps after what can be asked of it.
      await eventually(() => {
        const lines = server.processes.flatMap(({ log }) => log).filter((line) => line.requestId === requestId);
        const messages = lines.map(({ msg }) => msg);
        for (const msg of ['event created', 'operation started', 'operation succeeded']) {
          expect(messages).toContain(msg);
        }
      });
    });

    test('holds nothing but lines of JSON, and no fault of the server', () => {
      const { server } = product();
      for (const { log } of server.processes) {
        expect(log).not.toEqual([]);
        expect(log.filter(({ level }) => ['text', 'error', 'fatal'].includes(level))).toEqual([]);
      }
    });

    test('holds no password, right or wrong', async () => {
      const { admin, server } = product();
      const requestId = 'follow-me-2';
      const headers = { 'X-Request-Id': requestId };
      const wrong = admin.as('admin', 'my-pets-name');
      expect((await wrong.fetch('/api/events', { headers })).status).toBe(401);
      await admin.create(eventFields(), headers);
      await eventually(async () => {
        const lines = server.api.log.filter((line) => line.requestId === requestId);
        expect(lines.map(({ msg }) => msg)).toContain('event created');
      });
      for (const { authorization } of [admin, wrong]) {
        const credentials = authorization.split(' ')[1] ?? '';
        const password = atob(credentials).split(':')[1] ?? '';
        for (const secret of [credentials, password]) expect(server.api.output).not.toContain(secret);
      }
    });
  });
};
