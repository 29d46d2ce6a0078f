import { anonymous } from '#access/principal.ts';
import { defineEndpoint } from '#platform/http/endpoint/endpoint.ts';
import { notFound, refusal } from '#platform/http/errors/errors.ts';
import { remoteAddress } from '#platform/http/server/client-address.ts';
import { Throttle } from '#platform/http/server/throttle.ts';
import { networkOf } from '#platform/text/ip-address.ts';
import { findReadAccess } from '#publications/publication.queries.ts';
import { admit, visitOf } from '#publications/watch-access.ts';
import { countView } from '#statistics/views/view-counts.ts';
import type { RecordingServices } from './open-recording.ts';

/** Views per minute from one network; the seats of a lecture hall may share an address. */
const PER_NETWORK = 600;
const TOO_MANY_VIEWS = refusal(429, 'Too many views were counted; try again later.');

const throttle = new Throttle(PER_NETWORK);

/**
 * Counts a view of a recording, for everyone whom the watch page admits. Nothing of the request is stored. Missing recordings
 * and those that the client may not watch are answered alike.
 */
export const countViewOfRecording = defineEndpoint({
  method: 'post',
  path: '/watch/{publication_id}/views',
  access: 'public',
  handle: async ({ c, params }, { addresses, database, config }: RecordingServices) => {
    if (!config.statistics.isEnabled) throw notFound();
    const network = networkOf(remoteAddress(c));
    const seconds = throttle.waitSeconds(network);
    if (seconds > 0) throw TOO_MANY_VIEWS().with({ 'Retry-After': String(seconds) });
    throttle.count(network);
    const admission = await admit(visitOf(c, addresses, { isFile: false }), addresses, () =>
      findReadAccess(database, params.publication_id, c.get('principal') ?? anonymous),
    );
    if (!admission?.found) throw notFound();
    await countView(database, admission.found.event_id, config.statistics.timeZone);
    return c.body(null, 204);
  },
});
