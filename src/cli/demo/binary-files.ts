import { crc32 } from 'node:zlib';
import type { Random } from './random.ts';

const width = 320;
const height = 200;

/**
 * A picture like a harbour at dusk: bands of colour and a few lights. Its data is stored, not compressed, because
 * another release of zlib would give other bytes.
 */
export function pngPicture(random: Random): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([4, 3, 0, 0, 0], 8); // 16 colours of a palette, no interlace
  const hue = random.integer(0, 200);
  const palette = Buffer.from(
    Array.from({ length: 16 }, (_, step) => [hue + step * 3, 30 + step * 14, 90 + step * 10]).flat(),
  );
  const data = pixels(random);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', stored(data)),
    chunk('IEND'),
  ]);
}

/** A PDF of one page in Helvetica. Only ASCII stands in it, so that an offset in characters is one in bytes. */
export function pdfDocument(title: string, lines: readonly string[]): Buffer {
  const shown = [title, '', ...lines].map((line) => `(${line.replaceAll(/[\\()]/g, String.raw`\$&`)}) Tj T*`);
  const content = `BT /F1 11 Tf 16 TL 56 780 Td\n${shown.join('\n')}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  return Buffer.from(
    `${file}${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    'ascii',
  );
}

export function tarArchive(files: readonly { name: string; text: string }[]): Buffer {
  const blocks = files.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    return [tarHeader(name, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Sky over water with lights, two pixels in a byte, a zero (no filter) before each line. */
function pixels(random: Random): Buffer {
  const horizons = Array.from(
    { length: width / 2 },
    (_, column) => 120 + Math.round(8 * Math.sin(column / 20)),
  );
  const lines = Array.from({ length: height }, (_, y) => {
    const sky = Math.min(14, 4 + Math.floor(y / 12));
    return [0, ...horizons.map((horizon, column) => (y > horizon ? 2 + ((column + y) % 3) : sky) * 17)];
  });
  for (let light = 0; light < 120; light += 1) {
    const line = lines[random.integer(130, height - 1)];
    if (line) line[random.integer(1, width / 2)] = 0xff;
  }
  return Buffer.from(lines.flat());
}

/** Data as a zlib stream of blocks that are not compressed. */
function stored(data: Buffer): Buffer {
  const parts: Buffer[] = [Buffer.from([0x78, 0x01])];
  for (let offset = 0; offset < data.length; offset += 0xffff) {
    const block = data.subarray(offset, offset + 0xffff);
    const head = Buffer.alloc(5);
    head.writeUInt8(offset + block.length === data.length ? 1 : 0, 0);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(0xffff - block.length, 3);
    parts.push(head, block);
  }
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(adler32(data));
  return Buffer.concat([...parts, checksum]);
}

function adler32(data: Buffer): number {
  let low = 1;
  let high = 0;
  for (const byte of data) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'ascii'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0' + '0000000\0'.repeat(2), 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0        0`, 124);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
