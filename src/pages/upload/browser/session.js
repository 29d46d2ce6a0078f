import { Api } from './api.js';
import { FileTransfer } from './file-transfer.js';
import { RecordingTransfers } from './recording-transfers.js';
import { SavedRecordings } from './saved-recordings.js';
import { UploadQueue } from './upload-queue.js';

/** @import * as Tus from 'tus-js-client' */

const base = new URL('..', import.meta.url).href;
/** A classic script: the package has no module for browsers. @type {typeof Tus} */
const tus = Reflect.get(globalThis, 'tus');

/** The account of the page, the role of this account alone, and the kind of links to recordings. */
export const { account = '', role = '', links = '' } = document.querySelector('main')?.dataset ?? {};
export const api = new Api(base, { account, role, isSigning: links === 'signed' });
export const transfers = new RecordingTransfers(
  (file, state, events) => new FileTransfer(tus, base, file, state, events),
);
export const queue = new UploadQueue({ api, transfers, saved: new SavedRecordings(base, account) });
