import type { Context } from 'hono';
import { xmlText } from '#metadata/xml.ts';

/** An element of XML. @param content XML itself, unless it is said to be text */
export function element(name: string, content: string, kind: 'xml' | 'text' = 'xml'): string {
  return `<${name}>${kind === 'text' ? xmlText(content) : content}</${name}>`;
}

/** A document of XML, in the namespace of what agents report. */
export function xmlAnswer(c: Context, root: string): Response {
  const document = root.replace(/^<([\w-]+)>/, '<$1 xmlns="http://capture.admin.opencastproject.org">');
  return c.body(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${document}`, 200, {
    'Content-Type': 'text/xml; charset=utf-8',
  });
}
