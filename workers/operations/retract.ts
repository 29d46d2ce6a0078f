import { retractPublications } from '#publications/publishing.ts';
import type { Operation } from './operation.ts';

/** Removes the publication on `channel` with its objects, or every publication of the event without that setting. */
export const retract: Operation = {
  name: 'retract',
  lane: 'light',
  async run({ eventId, configuration, log }) {
    const channel = configuration.channel || undefined;
    return async (trx) => {
      const removed = await retractPublications(trx, { eventId, channel });
      log.info({ channel, publications: removed }, 'publications removed');
    };
  },
};
