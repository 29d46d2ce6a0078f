import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deliver } from '#platform/media/encode-delivery.ts';
import { parseHeights, USUAL_LADDER } from '#platform/media/ladder.ts';
import { probe } from '#platform/media/probe.ts';
import { runTool } from '#platform/media/tools/run-tool.ts';
import { clip, clipFolder, testTools } from '../support/clips.ts';

const tools = await testTools();
const OPTIONS = { timeLimitMs: 60_000, onProgress: () => undefined };
const LIGHTS = [26, 203, 1000] as const;

/** Three fields of grey as ITU-R BT.2100 codes these lights, in cd/m2: 26 is a grey card, 203 a page, 1000 the sun. */
async function greys(transfer: string, codes: readonly number[]): Promise<string> {
  const [card, page, sun] = codes;
  const tags = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc:range=limited`;
  return clip({
    ...{ container: 'mp4', seconds: 1, audio: false },
    video: {
      codec: 'libx265',
      filter: `format=yuv420p10le,geq=lum='if(lt(X,100),${card},if(lt(X,200),${page},${sun}))':cb=512:cr=512`,
      options: ['-x265-params', `log-level=none:${tags}`, '-pix_fmt', 'yuv420p10le', '-color_trc', transfer],
    },
  });
}

it.each([
  ['PQ', 'smpte2084', [397, 573, 723]],
  ['HLG', 'arib-std-b67', [396, 721, 940]],
])('pictures in %s become SDR of the same greys', async (_name, transfer, codes) => {
  const info = await probe(tools, await greys(transfer, codes));
  expect(info.video).toMatchObject({ codec: 'hevc', transfer });
  const folder = await mkdtemp(join(clipFolder(), 'hdr-'));
  const settings = { ...USUAL_LADDER, heights: parseHeights('source') ?? [] };
  const { renditions } = await deliver(tools, info, { ...OPTIONS, settings, folder });
  const path = renditions[0]?.path ?? '';
  const entries = ['-show_entries', 'stream=pix_fmt,color_range,color_space,color_transfer,color_primaries'];
  const shown = await runTool(tools.ffprobe, ['-v', 'error', ...entries, '-of', 'csv=p=0', path], OPTIONS);
  expect(shown.output.toString().trim()).toBe('yuv420p,tv,bt709,bt709,bt709');
  const raw = ['-frames:v', '1', '-pix_fmt', 'yuv420p', '-f', 'rawvideo', 'pipe:1'];
  const { output } = await runTool(tools.ffmpeg, ['-v', 'error', '-i', path, ...raw], OPTIONS);
  const row = output.subarray(320 * 120, 320 * 121);
  const [card = 0, page = 0, sun = 0] = LIGHTS.map((_, i) => row[50 + i * 100]);
  // An SDR screen shows black as 16, a page as up to 235, and a card of 13 % of its light as 109.
  expect(Math.abs(card - 109)).toBeLessThan(6);
  expect(page).toBeGreaterThan(190);
  expect(page).toBeLessThan(215);
  expect(sun).toBeGreaterThan(page + 20);
  expect(sun).toBeLessThanOrEqual(236);
  const [blue, red] = [output[320 * 240 + 160 * 60 + 25] ?? 0, output[320 * 240 + 160 * 120 + 160 * 60 + 25] ?? 0];
  expect(Math.max(Math.abs(blue - 128), Math.abs(red - 128))).toBeLessThan(3);
});
