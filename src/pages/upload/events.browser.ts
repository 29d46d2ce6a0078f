import type { Api, Fault } from './api.browser.ts';
import type { Errands } from './errands.browser.ts';
import type { Follow } from './follow.browser.ts';
import type { Measure } from './measure.browser.ts';
import type { Condition, Item } from './recording.ts';

/** What becomes of recordings whose files are there. */
export interface Events {
  /** Makes the event of one, and follows its processing. */
  create(item: Item): Promise<void>;
  follow(item: Item): void;
  /** Waits for what is under way for one that is to be cancelled. @returns whether it is too late for that */
  made(item: Item): Promise<boolean>;
  /** Asks again for links that have been there for a while: they may be good no longer. */
  renewLinks(items: readonly Item[]): void;
}

export interface EventsParts {
  api: Pick<Api, 'createEvent'>;
  errands: Errands;
  measure: Measure;
  follow: Follow;
  on: {
    turn: (item: Item, condition: Condition, note?: string) => void;
    refuse: (item: Item, status: number, sentence: string) => void;
    has: (item: Item) => boolean;
  };
}

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createEvents({ api, errands, measure, follow, on }: EventsParts): Events {
  const { turn, refuse, has } = on;
  const RENEW_MS = 300_000;
  /** The event of a recording, as it is being made. */
  const making = new WeakMap<Item, Promise<string>>();
  const followed = new WeakMap<Item, symbol>();
  let renewed = Date.now();

  /** One that is over with something to watch stays so while its link is renewed. */
  const watch = (item: Item) => {
    const { recording } = item;
    const mine = Symbol();
    followed.set(item, mine);
    if (!item.watch) turn(item, 'processing');
    follow(recording.eventId ?? '', (news) => {
      if (!has(item) || followed.get(item) !== mine) return false;
      if (news.kind === 'goes on' && item.watch) return true;
      item.watch = news.kind === 'over' ? news.watch : undefined;
      if (news.kind === 'signed out') refuse(item, 401, '');
      else if (news.kind === 'goes on') turn(item, 'processing', news.sentence);
      else {
        // What can be watched is asked for again at the next visit.
        if (!item.watch) Object.assign(recording, { stage: 'over', outcome: news.sentence });
        turn(item, 'over');
      }
      return true;
    });
  };

  return {
    create: async (item) => {
      const { recording } = item;
      recording.stage = 'event';
      turn(item, 'creating');
      const make = async () => {
        const event = api.createEvent(recording);
        making.set(item, event);
        recording.eventId = await event;
        recording.stage = 'processing';
      };
      const wait = (reason: string) => turn(item, 'creating', `${reason} Trying again.`);
      try {
        if (await errands.run(item, make, wait)) watch(item);
      } catch (error) {
        const { status, message } = error as Fault;
        if (status === 404 || (status === 400 && message.includes('is not finished'))) {
          // An upload has gone meanwhile.
          recording.stage = 'files';
          await measure(recording.files).catch(() => undefined);
          turn(item, 'failed', message);
        } else refuse(item, status, message);
      }
    },
    follow: watch,
    made: async (item) => {
      if (item.condition !== 'creating') return false;
      turn(item, 'creating', 'It is being cancelled.');
      await making.get(item)?.catch(() => undefined);
      if (item.recording.stage !== 'processing') return false;
      watch(item);
      return true;
    },
    renewLinks: (items) => {
      if (Date.now() - renewed < RENEW_MS) return;
      renewed = Date.now();
      for (const item of items) if (item.condition === 'over' && item.watch) watch(item);
    },
  };
}
