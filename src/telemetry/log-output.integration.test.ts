import { openSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { createPipe, PIPE_BYTES } from '../../test/support/pipe.ts';
import { LogOutput } from './log-output.ts';

const notice = (dropped: number) => `${dropped} dropped\n`;

test('lines for a pipe that nobody reads are kept, and come in order once somebody does', async () => {
  const { writer, read } = createPipe({ onTestFinished });
  const output = new LogOutput({ fd: writer, notice });
  const lines = Array.from({ length: 3 }, (_, i) => `${i} ${'x'.repeat(PIPE_BYTES)}\n`);
  for (const line of lines) output.write(line);
  let text = '';
  await eventually(() => {
    text += read();
    expect(text).toHaveLength(lines.join('').length);
  });
  expect(text).toBe(lines.join(''));
});

test('lines beyond the limit are dropped, and one line says how many they were', async () => {
  const { writer, read } = createPipe({ onTestFinished });
  const output = new LogOutput({ fd: writer, notice, maxWaitingBytes: PIPE_BYTES });
  const first = `${'x'.repeat(PIPE_BYTES - 1)}\n`;
  output.write(first);
  output.write('waits\n');
  for (let i = 0; i < 3; i += 1) output.write(first);
  let text = '';
  await eventually(() => {
    text += read();
    expect(text).toContain('dropped');
  });
  expect(text).toBe(`${first}waits\n3 dropped\n`);
  output.write('goes on\n');
  expect(read()).toBe('goes on\n');
});

test('lines for a reader that is gone are dropped and counted until there is another', async () => {
  const { writer, open, close, read } = createPipe({ onTestFinished });
  const output = new LogOutput({ fd: writer, notice });
  output.write('before\n');
  expect(read()).toBe('before\n');
  close();
  for (let i = 0; i < 5; i += 1) output.write('lost\n');
  open();
  await eventually(() => expect(read()).toBe('5 dropped\n'));
  output.write('after\n');
  expect(read()).toBe('after\n');
});

test('what follows a line that was cut short begins on a line of its own', async () => {
  const { writer, open, close, read } = createPipe({ onTestFinished });
  const output = new LogOutput({ fd: writer, notice });
  const long = `${'x'.repeat(PIPE_BYTES)}${'y'.repeat(1000)}\n`;
  output.write(long);
  close();
  output.write('lost\n');
  open();
  let text = '';
  await eventually(() => {
    text += read();
    expect(text).toContain('dropped');
  });
  expect(text).toBe(`${'x'.repeat(PIPE_BYTES)}\n2 dropped\n`);
});

test('a disk without room and a file that is closed cost lines and nothing else', () => {
  for (const fd of [openSync('/dev/full', 'w'), 987_654]) {
    const output = new LogOutput({ fd, notice });
    expect(() => output.write('lost\n')).not.toThrow();
  }
});
