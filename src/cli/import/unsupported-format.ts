/** Whether a file starts like a gzip file. */
export function isGzip(head: Buffer): boolean {
  return startsWith(head, [0x1f, 0x8b]);
}

/**
 * Explains to the user that a file does not consist of lines of UTF-8 text, and what to do about it. Undefined if the
 * file may consist of lines; if only some of them are invalid, those are refused one by one later.
 */
export function unsupportedFormat(head: Buffer, path: string): string | undefined {
  const encoding = wideEncoding(head);
  if (encoding !== undefined) {
    const command = `iconv -f ${encoding} -t UTF-8 FILE > lines.jsonl`;
    return `${path} is ${encoding}, but only UTF-8 can be imported. Convert it: ${command}`;
  }
  const binary = binaryFormats.find(({ magic, at = 0 }) => startsWith(head.subarray(at), magic));
  if (binary) return `${path} is ${binary.name}. ${binary.advice}`;
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('<'))
    return `${path} is HTML or XML, perhaps a sign-in or error page. Download the export itself again.`;
  if (isMultilineJson(text)) {
    const filter = text.startsWith('[') ? "'.[]'" : '.';
    return `${path} is one JSON value over several lines, but an import needs one object per line. Convert it: jq -c ${filter} FILE > lines.jsonl`;
  }
  return undefined;
}

/** Detects UTF-16 and UTF-32 by the byte order mark, or by the positions of zeros in the first two ASCII characters. */
function wideEncoding(head: Buffer): string | undefined {
  const zeros = Array.from(head.subarray(0, 4), (byte) => (byte === 0 ? '0' : 'x')).join('');
  if (startsWith(head, [0xff, 0xfe, 0, 0]) || zeros === 'x000') return 'UTF-32LE';
  if (startsWith(head, [0, 0, 0xfe, 0xff]) || zeros === '000x') return 'UTF-32BE';
  if (startsWith(head, [0xff, 0xfe]) || zeros === 'x0x0') return 'UTF-16LE';
  if (startsWith(head, [0xfe, 0xff]) || zeros === '0x0x') return 'UTF-16BE';
  return undefined;
}

const unpack = 'Unpack it and import the file inside.';

/** Formats of files that users mistake for an export, with the bytes that identify each format, at the offset `at`. */
const binaryFormats: readonly {
  readonly magic: readonly number[];
  readonly at?: number;
  readonly name: string;
  readonly advice: string;
}[] = [
  { magic: [0x1f, 0x8b], name: 'gzip within gzip', advice: unpack },
  { magic: [0x50, 0x4b, 3, 4], name: 'a zip archive', advice: unpack },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'compressed with zstd', advice: unpack },
  { magic: [0x42, 0x5a, 0x68], name: 'compressed with bzip2', advice: unpack },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], name: 'compressed with xz', advice: unpack },
  { magic: [...Buffer.from('ustar')], at: 257, name: 'a tar archive', advice: unpack },
  {
    magic: [...Buffer.from('SQLite format 3\0')],
    name: 'an SQLite database',
    advice: 'Export the issues as lines first; for beads, use `bd export`.',
  },
];

/** Whether the text is an array or object over several lines, or an array that does not end within this text. */
function isMultilineJson(text: string): boolean {
  const end = text.indexOf('\n');
  const line = (end < 0 ? text : text.slice(0, end)).trimEnd();
  if (line.startsWith('[') && !isJson(line)) return true;
  return end >= 0 && line.startsWith('{') && /[{[]$/.test(line);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}
