import { openSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { createPipe, PIPE_BYTES } from '#test/support/pipe.ts';
import { LogOutput } from './log.ts';

const notice = (dropped: number) => `${dropped} dropped\n`;

/** An output into a pipe; `readUntil` reads until all of a text has come. */
function outputToPipe(maxWaitingBytes?: number) {
  const { writer, open, close, read } = createPipe({ onTestFinished });
  const output = new LogOutput({ fd: writer, notice, ...(maxWaitingBytes && { maxWaitingBytes }) });
  const write = (...lines: string[]) => {
    for (const line of lines) output.write(line);
  };
  const expectText = async (text: string) => {
    let seen = '';
    await eventually(() => {
      seen += read();
      expect(seen).toBe(text);
    });
  };
  return { write, expectText, open, close };
}

test('lines for a pipe that nobody reads are kept, and come in order once somebody does', async () => {
  const { write, expectText } = outputToPipe();
  const lines = Array.from({ length: 3 }, (_, i) => `${i} ${'x'.repeat(PIPE_BYTES)}\n`);
  write(...lines);
  await expectText(lines.join(''));
});

test('lines beyond the limit are dropped, and one line says how many they were', async () => {
  const { write, expectText } = outputToPipe(PIPE_BYTES);
  const first = `${'x'.repeat(PIPE_BYTES - 1)}\n`;
  write(first, 'waits\n', first, first, first);
  await expectText(`${first}waits\n3 dropped\n`);
  write('goes on\n');
  await expectText('goes on\n');
});

test('lines for a reader that is gone are dropped and counted until there is another', async () => {
  const { write, expectText, open, close } = outputToPipe();
  write('before\n');
  await expectText('before\n');
  close();
  write(...Array<string>(5).fill('lost\n'));
  open();
  await expectText('5 dropped\n');
  write('after\n');
  await expectText('after\n');
});

test('what follows a line that was cut short begins on a line of its own', async () => {
  const { write, expectText, open, close } = outputToPipe();
  write(`${'x'.repeat(PIPE_BYTES)}${'y'.repeat(1000)}\n`);
  close();
  write('lost\n');
  open();
  await expectText(`${'x'.repeat(PIPE_BYTES)}\n2 dropped\n`);
});

test('a disk without room and a file that is closed cost lines and nothing else', () => {
  for (const fd of [openSync('/dev/full', 'w'), 987_654])
    expect(() => new LogOutput({ fd, notice }).write('lost\n')).not.toThrow();
});
