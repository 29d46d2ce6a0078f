import { crc32 } from 'node:zlib';
import { entryRefused, ZIP_REFUSED } from './refusals.ts';

export const MAX_NAME_BYTES = 1024;

/** The upper half of code page 437, which names are in that say nothing else. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How a name is written. */
export interface NameBytes {
  bytes: Buffer;
  /** Whether the entry says that it is UTF-8. */
  utf8: boolean;
  /** Content of the extra field 0x7075: the name in UTF-8, with the checksum of the name that it is for. */
  unicodePath: Buffer | undefined;
}

/**
 * The name of an entry: a relative path with `/` between its folders, and at the end of that of a folder.
 *
 * @throws {HttpError} 400 for a name that leads out of the archive, or that systems read in different ways
 */
export function entryName(written: NameBytes): string {
  const { length } = written.bytes;
  if (length === 0) throw ZIP_REFUSED('an entry has no name');
  if (length > MAX_NAME_BYTES)
    throw ZIP_REFUSED(`the name of an entry is longer than ${MAX_NAME_BYTES} bytes`);
  const name = decode(written);
  const fault = faultOf(name);
  if (fault) throw entryRefused(name, fault);
  return name;
}

function decode({ bytes, utf8, unicodePath }: NameBytes): string {
  const better = unicodePath && unicodeName(bytes, unicodePath);
  const text = decodeUtf8(better ?? bytes);
  if (text !== undefined) return text;
  if (utf8 || better) throw ZIP_REFUSED('the name of an entry is not UTF-8 as it says');
  return Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP437[byte - 128])).join('');
}

/** Undefined where the field was made for another name: a program has renamed the entry without knowing the field. */
function unicodeName(bytes: Buffer, field: Buffer): Buffer | undefined {
  const fits = field.length > 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(bytes);
  return fits && field.length <= MAX_NAME_BYTES ? field.subarray(5) : undefined;
}

/** Many programs write UTF-8 and do not say so; a text of another code page is hardly ever UTF-8. */
function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function faultOf(name: string): string | undefined {
  if (/\p{Cc}/u.test(name)) return 'has a control character in its name';
  if (name.includes('\\')) return 'has a backslash in its name; folders are separated by /';
  if (name.startsWith('/')) return 'has an absolute path';
  if (/^[A-Za-z]:/.test(name)) return 'has the letter of a drive in its name';
  const parts = name.replace(/\/$/, '').split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return "has an empty part, '.' or '..' in its path";
  }
  return undefined;
}
