import type * as Tus from 'tus-js-client';
import type { RecordedFile } from './recording.ts';

/** What becomes of a transfer. After `onFault`, `onDone` and `stop` nothing more is told. */
export interface TransferEvents {
  /** Its upload is there. */
  onUrl(url: string): void;
  /** @param bytes that have been sent, in all */
  onProgress(bytes: number): void;
  /** It could not go on, and tries again by itself. @param reason a sentence, empty when nothing answered */
  onWaiting(reason: string): void;
  onDone(): void;
  /** It does not go on by itself. @param status 0 when no answer is the reason */
  onFault(status: number, sentence: string): void;
}

/** A file on its way to the server. */
export interface Transfer {
  /** Ends it; what has arrived stays. */
  stop(): void;
  /** Tries again now, when it waits. */
  nudge(): void;
}

export type StartTransfer = (file: File, target: RecordedFile, events: TransferEvents) => Transfer;

/**
 * Sends files by the client of the tus project. It goes on for as long as somebody lets it: a server that is away, or a
 * line that is dead, is asked again and again.
 *
 * @param base where the server's paths begin
 *
 * Sent to the browser as its own source text: it refers to nothing outside itself.
 */
export function createTransfers(tus: typeof Tus, base: string): StartTransfer {
  const LONGEST_DELAY_MS = 10_000;
  const TRIES = 100_000;
  const DELAYS = Array.from({ length: TRIES }, (_, i) =>
    Math.min(LONGEST_DELAY_MS, 500 * 2 ** Math.min(i, 10)),
  );
  const LOOK_MS = 5_000;
  /** Without a byte on its way. A line that is dead tells nobody. */
  const SILENCE_MS = 45_000;
  /** For the answer, once all is sent: large objects take storage a while to put together. */
  const ANSWER_MS = 300_000;
  const AGAIN = new Set([408, 409, 423, 425, 429, 460]);

  // The server tells addresses under the name that it is known by, which need not be the one of this page.
  const own = (url: string) => new URL(`uploads/${url.split('/').at(-1)}`, base).href;
  const stack = tus.defaultOptions.httpStack;
  const httpStack: Tus.HttpStack = {
    createRequest: (method, url) => stack.createRequest(method, /\/uploads$/.test(url) ? url : own(url)),
    getName: () => stack.getName(),
  };

  return (file, target, events) => {
    let over = false;
    let waiting = false;
    let sent = 0;
    let heard = performance.now();
    /** An upload that nobody has been told of is nobody's. */
    let known = target.url !== undefined;

    const end = () => {
      over = true;
      clearInterval(watch);
      // Of one that is only being begun the address is needed, to give it up.
      if (upload.url) upload.abort().catch(() => undefined);
    };
    const fail = (status: number, sentence: string) => {
      if (over) return;
      end();
      events.onFault(status, sentence);
    };
    /** The browser tells of a file that has changed as of a line that has broken. */
    const look = () =>
      file
        .slice(0, 1)
        .arrayBuffer()
        .catch(() =>
          fail(0, `“${file.name}” cannot be read any more: it was moved or changed. Choose it again.`),
        );
    const wait = (reason: string) => {
      waiting = true;
      heard = performance.now();
      events.onWaiting(reason);
    };
    const restart = () => {
      if (over) return;
      heard = performance.now();
      upload.abort().catch(() => undefined);
      upload.start();
    };

    const upload = new tus.Upload(file, {
      endpoint: target.url ? null : new URL('uploads', base).href,
      uploadUrl: target.url ?? null,
      metadata: { filename: file.name, filetype: file.type, flavor: `${target.field}/source` },
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
      retryDelays: DELAYS,
      // The page remembers by itself, with what belongs to it.
      storeFingerprintForResuming: false,
      httpStack,
      onUploadUrlAvailable: () => {
        if (over) {
          upload.abort(!known).catch(() => undefined);
          return;
        }
        if (!upload.url) return;
        // With one, the client would begin anew at the first answer that it does not like.
        upload.options.endpoint = null;
        known = true;
        events.onUrl(own(upload.url));
      },
      onProgress: (bytes) => {
        if (over) return;
        waiting = false;
        heard = performance.now();
        sent = bytes;
        events.onProgress(bytes);
      },
      onShouldRetry: ({ originalResponse }) => {
        const status = originalResponse?.getStatus() ?? 0;
        const again = status === 0 || status >= 500 || AGAIN.has(status);
        if (over || !again) return false;
        if (status === 0) void look();
        wait(status === 409 || status === 423 ? '' : (originalResponse?.getBody() ?? ''));
        return true;
      },
      onError: (error) => {
        const answer = 'originalResponse' in error ? error.originalResponse : null;
        const sentence =
          answer?.getBody().trim() || (answer ? `The server answered ${answer.getStatus()}.` : '');
        fail(answer?.getStatus() ?? 0, sentence || error.message);
      },
      onSuccess: () => {
        if (over) return;
        end();
        events.onDone();
      },
    });
    const watch = setInterval(() => {
      const limit = sent >= file.size && !waiting ? ANSWER_MS : SILENCE_MS;
      if (performance.now() - heard < limit) return;
      wait('');
      restart();
    }, LOOK_MS);
    upload.start();
    return {
      stop: end,
      nudge: () => {
        if (waiting) restart();
      },
    };
  };
}
