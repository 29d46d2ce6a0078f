import { html } from 'hono/html';
import type { Html } from '#platform/http/answer/page.ts';
import type { MediaStream } from '#platform/media/streams.ts';
import { clockOf, sizeOf } from '../frame/words.ts';
import type { RecordingStory } from './story.queries.ts';

/** What was sent of a recording, and what was found in it. */
export function tracksTable(tracks: RecordingStory['tracks']): Html {
  if (tracks.length === 0) return html`<p>It has no tracks.</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label="Tracks"><table>
<thead><tr><th scope="col">Flavor</th><th scope="col">File</th><th scope="col">Size</th><th scope="col">Length</th><th scope="col">What is in it</th></tr></thead>
<tbody>
${tracks.map(
  (
    track,
  ) => html`<tr><td>${track.flavor}${track.tags.length > 0 ? html` <span class="faint">${track.tags.join(', ')}</span>` : ''}</td><td><bdi>${track.filename}</bdi> <span class="faint">${track.mediatype}</span></td><td>${sizeOf(Number(track.size))}</td><td>${track.duration === null ? '' : clockOf(Number(track.duration))}</td><td>${((track.streams ?? []) as unknown as MediaStream[]).map(streamOf).join('; ')}${track.warnings.map((warning) => html`<p class="alarm">${warning}</p>`)}</td></tr>
`,
)}
</tbody></table></div>`;
}

function streamOf(stream: MediaStream): string {
  if (stream.type === 'audio') {
    const rate = stream.samplingRate === null ? '' : ` ${stream.samplingRate / 1000} kHz`;
    return `${stream.codec}, ${stream.channels === 1 ? '1 channel' : `${stream.channels} channels`}${rate}`;
  }
  const rate = stream.frameRate === null ? '' : ` ${stream.frameRate.toFixed(2).replace(/\.?0+$/, '')} fps`;
  return `${stream.codec} ${stream.width}×${stream.height}${rate}`;
}
