/**
 * Hono alone over the same server and the same pool, asking what Inlet asks for one event and for a page of events, and
 * nothing else, or any other query it is given. A process of its own, answering tasks (see `helper-process.ts`).
 */
import { Hono } from 'hono';
import { sql } from 'kysely';
import { createDatabase } from '../../../src/platform/database/kysely.ts';
import { createPool } from '../../../src/platform/database/pool.ts';
import { serve } from '../../../src/platform/http/server/serve.ts';
import { COLUMNS } from '../lists/columns.ts';
import { serveTasks } from '../support/helper-process.ts';

const pool = createPool(process.env.DATABASE_URL ?? '', { max: 14, onError: () => undefined });
const database = createDatabase(pool);
const EVENT = sql.raw(`SELECT ${COLUMNS.events} FROM events`);

const app = new Hono()
  .get('/api/events/:id', async (c) => {
    const { rows } = await sql`${EVENT} WHERE id = ${c.req.param('id')}`.execute(database);
    return c.json(rows[0]);
  })
  .get('/api/events', async (c) => {
    const limit = Number(c.req.query('limit'));
    const { rows } = await sql`${EVENT} ORDER BY start_date DESC, id DESC LIMIT ${limit}`.execute(database);
    return c.json(rows);
  })
  .get('/sql', async (c) => c.json((await pool.query(JSON.parse(c.req.query('query') ?? ''))).rows));
const server = await serve(app.fetch, { host: '127.0.0.1', port: 0 });

await serveTasks(async () => ({ port: server.port }));
server.destroy();
await pool.end();
