import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Delivery, fragmentOptions, pathOf, startOptions } from '../encode-delivery.ts';
import { ffmpegArguments, type Input } from '../ffmpeg-command.ts';
import { indexFile } from '../fragment-index.ts';
import type { MediaTools } from '../tools/locate-tools.ts';
import { watched } from '../tools/output-watch.ts';
import { type RunLimits, runTool } from '../tools/run-tool.ts';
import { OFFSET, type PieceFile } from './encode-piece.ts';
import { encodedLadder, type PictureWork } from './piece-plan.ts';

/** The files of pieces do not give the same as one go; the recording must be encoded in one go. */
export class PiecesUnfit extends Error {
  override name = 'PiecesUnfit';
}

/**
 * Joins the pictures of all pieces without encoding them again, and encodes the sound once.
 *
 * @param pieces the files of each piece, in order
 * @throws {PiecesUnfit}
 * @throws {MediaFailure}
 */
export async function joinPieces(
  tools: MediaTools,
  work: PictureWork,
  pieces: readonly (readonly PieceFile[])[],
  options: RunLimits & { folder: string },
): Promise<Delivery> {
  const { folder } = options;
  const ladder = encodedLadder(work);
  const filesOf = (rank: number | null) =>
    pieces.flatMap((files) => files.filter((file) => file.rank === rank && file.packets > 0));
  const run = (inputs: Input[], target: string, output: string[]) =>
    watched({ path: folder, maxBytes: Number.POSITIVE_INFINITY }, options.signal, (signal) =>
      runTool(tools.ffmpeg, ffmpegArguments(inputs, [{ target, options: output }]), { ...options, signal }),
    );
  const audio = ladder.renditions[0]?.audio;
  const sound = join(folder, 'sound.m4a');
  if (audio) {
    if (filesOf(null).length === 0) throw new PiecesUnfit('The pieces have no sound.');
    const input = await listOf(filesOf(null), join(folder, 'sound.txt'));
    await run([input], sound, ['-map', '0:a', ...audio.options, '-f', 'ipod']);
  }
  const renditions = [];
  for (const rendition of ladder.renditions) {
    const files = filesOf(rendition.rank);
    if (files.length === 0) throw new PiecesUnfit('The pieces have no pictures.');
    const path = pathOf(rendition, folder);
    const pictures = await listOf(files, `${path}.txt`);
    const inputs = [
      pictures,
      ...(audio ? [{ path: sound, options: ['-protocol_whitelist', 'file', '-f', 'mov'] }] : []),
    ];
    const maps = ['-map', '0:v', ...(audio ? ['-map', '1:a'] : [])];
    const copy = ['-c', 'copy', '-tag:v', 'avc1', '-max_muxing_queue_size', '4096'];
    const layout = [...fragmentOptions(work.source.duration), ...startOptions(work.source), '-f', ladder.format];
    await run(inputs, path, [...maps, ...copy, ...layout]);
    const expected = files.reduce((sum, { packets }) => sum + packets, 0);
    const { frames } = await indexFile(path);
    if (frames !== expected) throw new PiecesUnfit(`${frames} of ${expected} pictures could be joined.`);
    renditions.push({ ...rendition, path });
  }
  return { ...ladder, renditions };
}

/**
 * Writes a list for ffmpeg that places each file at its time. Without `inpoint` and `-copyts`, ffmpeg would place the
 * first packet of a file there, whose time it does not know if the file has fewer than eight pictures.
 */
async function listOf(files: readonly PieceFile[], path: string): Promise<Input> {
  const lines = files.map((file, i) => {
    const next = files[i + 1];
    const duration = next ? [`duration ${(next.begin - file.begin).toFixed(6)}`] : [];
    return [`file '${file.path.replaceAll("'", String.raw`'\''`)}'`, 'inpoint 0', ...duration].join('\n');
  });
  await writeFile(path, `${lines.join('\n')}\n`);
  const offset = (files[0]?.begin ?? 0) - OFFSET;
  const guards = ['-protocol_whitelist', 'file', '-f', 'concat', '-safe', '0'];
  return { path, options: ['-copyts', '-itsoffset', offset.toFixed(6), ...guards] };
}
