import type { Api, Fault } from './api.browser.ts';

/** What the page says of an event's processing. */
export type News =
  | { kind: 'goes on'; sentence: string }
  /** `watch` where there is something to watch. */
  | { kind: 'over'; sentence: string; watch: string | undefined }
  | { kind: 'signed out' };

/** Asks how far the processing of an event is, until it is over or `tell` answers false. */
export type Follow = (eventId: string, tell: (news: News) => boolean) => void;

/** Sent to the browser as its own source text: it refers to nothing outside itself. */
export function createFollower(api: Pick<Api, 'processingOf' | 'watchAddress' | 'stillOurs'>): Follow {
  const FIRST_MS = 1_500;
  const LONGEST_MS = 30_000;
  const GROWTH = 1.25;
  const GOES_ON: Record<string, string> = {
    '': 'It waits to be processed.',
    INSTANTIATED: 'It waits to be processed.',
    RUNNING: 'It is being processed. This takes a while; the page need not stay open.',
    PAUSED: 'Its processing is paused until somebody lets it go on.',
  };
  const ENDS: Record<string, string> = {
    FAILED: 'The processing failed. Whoever operates this server can see why; the files have arrived.',
    STOPPED: 'The processing was stopped. The files have arrived.',
  };

  const endOf = async (eventId: string, state: string): Promise<News> => {
    if (state !== 'SUCCEEDED') return { kind: 'over', sentence: ENDS[state] ?? state, watch: undefined };
    const watch = await api.watchAddress(eventId);
    return {
      kind: 'over',
      sentence: watch ? '' : 'It has been processed; nothing of it is published.',
      watch,
    };
  };

  /** What another account may not see is no news of it. */
  const causeOf = (fault: Fault): Fault | Promise<Fault> =>
    fault.status === 403 || fault.status === 404
      ? api.stillOurs().then(
          () => fault,
          (cause) => cause,
        )
      : fault;

  const afterFault = ({ status, message }: Fault): News => {
    if (status === 401) return { kind: 'signed out' };
    const over = (sentence: string): News => ({ kind: 'over', sentence, watch: undefined });
    if (status === 404) return over('The files arrived, and the recording has been deleted since.');
    if (status === 403) {
      return over('The files have arrived. This account may not see how the processing goes on.');
    }
    return { kind: 'goes on', sentence: `How far it is cannot be told at the moment: ${message}` };
  };

  return (eventId, tell) => {
    let delay = FIRST_MS;
    let told: string | undefined;
    const step = async () => {
      let news: News | undefined;
      try {
        const state = await api.processingOf(eventId);
        if (state !== told) delay = FIRST_MS;
        told = state;
        const sentence = GOES_ON[state];
        news = sentence ? { kind: 'goes on', sentence } : await endOf(eventId, state);
      } catch (error) {
        news = afterFault(await causeOf(error as Fault));
      }
      if (!tell(news) || news.kind !== 'goes on') return;
      setTimeout(() => void step(), delay);
      delay = Math.min(LONGEST_MS, delay * GROWTH);
    };
    void step();
  };
}
