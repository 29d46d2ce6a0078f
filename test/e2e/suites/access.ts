import { beforeAll, describe, expect, test } from 'vitest';
import { addAccount } from '../../support/accounts.ts';
import type { Client, EventJson } from '../../support/client.ts';
import { eventFields } from '../../support/form.ts';
import type { Suite } from '../suite.ts';

const VIEW = 'ROLE_API,ROLE_API_EVENTS_VIEW,ROLE_API_EVENTS_PUBLICATIONS_VIEW';

export const access: Suite = (product) => {
  describe('accounts', () => {
    let service: Client;
    let student: Client;
    let teacher: Client;
    let open: string;
    let own: string;
    let closed: string;

    beforeAll(async () => {
      const { server, admin } = product();
      [service, student, teacher] = await Promise.all([
        addAccount(server, 'lms', 'external-applications'),
        addAccount(server, 'student', `${VIEW},ROLE_COURSE_1`),
        addAccount(server, 'teacher', `${VIEW},ROLE_API_EVENTS_DELETE,ROLE_TEACHER`),
      ]);
      const entry = (role: string, action = 'read') => ({ role, action, allow: true });
      open = await admin.create(
        eventFields({ acl: [entry('ROLE_COURSE_1'), entry('ROLE_TEACHER'), entry('ROLE_TEACHER', 'write')] }),
      );
      own = await admin.create(eventFields({ acl: [entry('ROLE_USER_STUDENT'), entry('ROLE_TEACHER')] }));
      closed = await admin.create(eventFields({ acl: [entry('ROLE_NOBODY')] }));
    });

    const status = async (client: Client, path: string, init?: RequestInit) => (await client.fetch(path, init)).status;

    const listed = async (client: Client, headers?: HeadersInit, query = '') => {
      const events = await client.json<EventJson[]>(`/api/events${query}`, headers);
      const mine = [open, own, closed];
      return events.map(({ identifier }) => identifier).filter((id) => mine.includes(id));
    };

    test('without credentials, or with wrong ones, nothing but the version is told', async () => {
      const { server, admin } = product();
      expect(await status(admin.as('admin', 'wrong'), '/api/events')).toBe(401);
      expect(await status(admin.as('nobody', 'wrong'), '/api')).toBe(401);
      const answer = await fetch(`${server.url}/api/events`);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Digest .*, Basic realm="Opencast"$/);
      expect((await fetch(`${server.url}/api`)).status).toBe(200);
    });

    test('need the role of the URL', async () => {
      expect(await status(student, '/api/events')).toBe(200);
      expect(await status(student, `/api/events/${open}`, { method: 'DELETE' })).toBe(403);
      const upload = await student.upload(eventFields());
      expect(upload.status).toBe(403);
      expect(await upload.text()).toBe('This request requires the role ROLE_API_EVENTS_CREATE.');
      expect(await status(student, '/admin/queues')).toBe(403);
    });

    test('see the events whose ACL names one of their roles, and no sign of the others', async () => {
      const { admin } = product();
      expect(new Set(await listed(student))).toEqual(new Set([open, own]));
      expect(new Set(await listed(teacher))).toEqual(new Set([open, own]));
      expect(new Set(await listed(admin))).toEqual(new Set([open, own, closed]));
      expect(await listed(teacher, {}, '?onlyWithWriteAccess=true')).toEqual([open]);
      expect(await status(student, `/api/events/${open}`)).toBe(200);
      for (const path of [`/api/events/${closed}`, `/api/events/${closed}/publications`]) {
        expect(await status(student, path)).toBe(404);
      }
    });

    test('may delete what they may write; 401 for what they may only read, 404 for what they may not see', async () => {
      const remove = (id: string) => teacher.fetch(`/api/events/${id}`, { method: 'DELETE' });
      const refused = await remove(own);
      expect(refused.status).toBe(401);
      expect(await refused.text()).toBe('unauthorized');
      expect((await remove(closed)).status).toBe(404);
      expect((await remove(open)).status).toBe(204);
      expect(await status(product().admin, `/api/events/${open}`)).toBe(404);
    });

    test('of services may act as another user, with that one’s view', async () => {
      expect(await listed(service)).toEqual([]);
      expect(await listed(service, { 'X-RUN-AS-USER': 'student' })).toEqual([own]);
      const me = await service.json<{ username: string }>('/api/info/me', { 'X-RUN-AS-USER': 'student' });
      expect(me.username).toBe('student');
    });

    test('of services may act with other roles, which replace their own', async () => {
      const roles = { 'X-RUN-WITH-ROLES': 'ROLE_X, ROLE_NOBODY' };
      expect(await listed(service, roles)).toEqual([closed]);
      expect(await service.json('/api/info/me/roles', roles)).toEqual(['ROLE_X', 'ROLE_NOBODY']);
    });

    test('of others may not', async () => {
      const asks = (client: Client, headers: Record<string, string>) => status(client, '/api/events', { headers });
      expect(await asks(student, { 'X-RUN-AS-USER': 'teacher' })).toBe(403);
      expect(await asks(student, { 'X-RUN-WITH-ROLES': 'ROLE_TEACHER' })).toBe(403);
      expect(await asks(service, { 'X-RUN-WITH-ROLES': 'ROLE_ADMIN' })).toBe(403);
      expect(await asks(service, { 'X-RUN-AS-USER': 'admin' })).toBe(403);
      expect(await asks(service, { 'X-RUN-AS-USER': 'nobody-at-all' })).toBe(412);
    });
  });
};
