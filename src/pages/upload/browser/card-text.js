import { byteTotals } from './recording-transfers.js';

/** @import { QueueItem } from '../upload-types.ts' */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Formats the state of a recording. @param {QueueItem} item @returns {string} */
export function formatState({ recording, condition, note, watch }) {
  const { files, outcome } = recording;
  const { sent, size } = byteTotals(files);
  const uploaded = `${formatPercent(sent / size)} uploaded.`;
  switch (condition) {
    case 'queued':
      return 'Queued.';
    case 'uploading':
      return 'Uploading';
    case 'waiting':
      return `Waiting for the server. ${note} The upload resumes automatically.`;
    case 'paused':
      return `Paused, ${uploaded}`;
    case 'needs files': {
      const names = files.flatMap(({ done, name }) => (done ? [] : [`“${name}”`]));
      return `To resume, choose ${names.join(' and ')} again. ${sent > 0 ? uploaded : ''}`;
    }
    case 'signed out':
      return 'You are signed out. Sign in again to resume.';
    case 'failed':
      return note;
    case 'creating':
    case 'processing':
      return `The files are uploaded. ${note}`;
    case 'over':
      return watch ? 'Ready to watch.' : (outcome ?? '');
  }
}

/** Formats the size of a recording and the progress of its upload. @param {QueueItem} item */
export function formatFigures({ recording, condition, rate }) {
  const { sent, size } = byteTotals(recording.files);
  if (condition === 'over' || condition === 'processing') return formatSize(size);
  const progress = `${formatSize(sent)} of ${formatSize(size)}`;
  if (condition !== 'uploading' || !rate) return progress;
  return `${progress}, ${formatSize(rate)} per second, ${formatDuration((size - sent) / rate)} left`;
}

/** @param {number} bytes */
export function formatSize(bytes) {
  let size = bytes;
  let unit = 0;
  // 999.5 would be rounded to 1000.
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit > 0 && size < 9.95 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

/** @param {number} seconds */
export function formatDuration(seconds) {
  if (seconds < 5) return 'a few seconds';
  if (seconds < 55) return plural(Math.ceil(seconds / 5) * 5, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return plural(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return plural(Math.round(hours / 24), 'day');
  const whole = plural(hours, 'hour');
  return minutes % 60 === 0 ? whole : `${whole} and ${plural(minutes % 60, 'minute')}`;
}

/** Rounds down, so that 100 % means complete. @param {number} share */
export const formatPercent = (share) => `${Math.floor(Math.max(0, Math.min(1, share)) * 100)} %`;

/** @param {number} count @param {string} unit */
const plural = (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'}`;
