import { Client } from '../../../test/support/client.ts';
import { Resumable } from '../../../test/support/resumable.ts';
import type { World } from '../world/world.ts';

/**
 * Uploads by tus that their clients gave up, or whose address got lost on its way to them, are kept for a day: they are
 * taken back, which takes the lock of each.
 */
export async function abandonedGo({ database, urls }: World): Promise<string[]> {
  const client = new Resumable(new Client(urls[0] ?? ''));
  const rows = await database.selectFrom('uploads').select('id').where('event_id', 'is', null).execute();
  const faults: string[] = [];
  for (const { id } of rows) {
    const { status } = await client.fetch(`/uploads/${id}`, { method: 'DELETE' });
    if (status !== 204) faults.push(`DELETE of the upload ${id} answered ${status}`);
  }
  return faults;
}
