/**
 * What most people would write: express and multer, files to a folder and on the disk before the answer. A process of
 * its own, answering one task with its port (see `helper-process.ts`); the argument is its folder.
 */
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import express from 'express';
import multer from 'multer';
import { serveTasks } from '../support/helper-process.ts';
import { listen } from '../support/listen.ts';

const [, , folder = ''] = process.argv;
const uploads = multer({ storage: multer.diskStorage({ destination: folder }) });

const app = express().post('/api/events', uploads.any(), async (request, response) => {
  const files = (request.files ?? []) as Express.Multer.File[];
  for (const { path } of files) {
    const file = await open(path, 'r+');
    await file.sync();
    await file.close();
  }
  response.status(201).json(files.map(({ size }) => size));
});

const port = await listen(createServer(app));
await serveTasks(async () => ({ port }));
process.exit();
