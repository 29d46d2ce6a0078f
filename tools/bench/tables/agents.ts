import { addMachine } from '../../../test/support/accounts.ts';
import { measureDelivering } from '../agents/delivering.ts';
import { measureWaiting } from '../agents/waiting.ts';
import type { Bench } from '../setup/bench.ts';
import type { Row, Table } from '../support/figures.ts';

const MIB = 2 ** 20;
const FULL = { agents: 100, warmUpSeconds: 30, seconds: 60, uploads: 30, bytes: 128 * MIB, atOnce: 10 };
const QUICK = { agents: 10, warmUpSeconds: 1, seconds: 3, uploads: 6, bytes: 4 * MIB, atOnce: 2 };

/** What capture agents cost that wait for their time, and what they need that deliver at once. */
export async function measureAgents(bench: Bench, onRound: (round: number) => void): Promise<Table> {
  const { quick, rounds = 1 } = bench.options;
  const { agents, warmUpSeconds, seconds, uploads, bytes, atOnce } = quick ? QUICK : FULL;
  const names = Array.from({ length: agents }, (_, i) => `hall-${i + 1}`);
  for (const name of names) await addMachine(bench.database, name);
  const rows: Row[] = [];
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const keepsNonce of [false, true]) {
      rows.push(await measureWaiting(bench, { names, keepsNonce, warmUpSeconds, seconds }));
    }
    rows.push(await measureDelivering(bench, { uploads, bytes }));
    rows.push(await measureDelivering(bench, { uploads, bytes, atOnce }));
  }
  await bench.database.deleteFrom('accounts').where('username', 'in', names).execute();
  await bench.database.deleteFrom('capture_agents').where('id', 'in', names).execute();
  return {
    name: 'agents',
    title: 'Capture agents: what the API process costs while they wait, and while they deliver at once',
    notes: [
      'Waiting: each does what a Galicaster does, reports every ten seconds and asks for its calendar, the series and the',
      'rest every minute, with Digest. A challenge for each request, which makes it two, is how Galicaster does it. Writes:',
      'rows of agents. Processor: of one core, of the API process alone; PostgreSQL: all processes of that server.',
      'Delivering: idle is a process that has had no request; over one, one that has taken one small track. The aim is',
      'UPLOAD_MEMORY_BYTES. Let in: MAX_PARALLEL_UPLOADS; the others wait, and all are taken.',
    ],
    rows,
  };
}
