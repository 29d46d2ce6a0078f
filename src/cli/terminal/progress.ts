import { Presets, SingleBar } from 'cli-progress';

const LABEL_WIDTH = 11;
const STEP = 0.25;

export interface Progress {
  /** @param fraction from 0 to 1; the bar never moves back */
  update(fraction: number, note: string): void;
  /** Leaves the last state on the screen. */
  stop(): void;
}

/** Shows a bar on a terminal; otherwise a line for every quarter and every new note. */
export function showProgress(label: string, output: NodeJS.WriteStream): Progress {
  return output.isTTY ? bar(label, output) : lines(label, output);
}

function bar(label: string, output: NodeJS.WriteStream): Progress {
  const shown = new SingleBar(
    {
      format: `${label.padEnd(LABEL_WIDTH)}{bar} {percentage}%  {note}`,
      stream: output,
      hideCursor: true,
      barsize: 30,
      fps: 15,
      // The note's length varies.
      linewrap: false,
    },
    Presets.shades_classic,
  );
  shown.start(100, 0, { note: '' });
  let furthest = 0;
  return {
    update: (fraction, note) => {
      furthest = Math.max(furthest, fraction);
      shown.update(Math.floor(furthest * 100), { note });
    },
    stop: () => shown.stop(),
  };
}

function lines(label: string, output: NodeJS.WriteStream): Progress {
  let next = 0;
  let lastNote: string | undefined;
  return {
    update: (fraction, note) => {
      const kind = note.replace(/\d.*$/, '');
      if (fraction < next && kind === lastNote) return;
      next = Math.max(next, (Math.floor(fraction / STEP) + 1) * STEP);
      lastNote = kind;
      output.write(`${label.padEnd(LABEL_WIDTH)}${String(Math.floor(fraction * 100)).padStart(3)}%  ${note}\n`);
    },
    stop: () => {},
  };
}
