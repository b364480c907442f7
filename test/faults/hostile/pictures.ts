import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createDeflate, crc32 } from 'node:zlib';
import { Client } from '../support/client.ts';
import { ms } from '../support/fault.ts';
import { type Figure, graphql, memoryDuring, type Target } from './target.ts';

const side = 7_070;
const bytesOfPixel = 8;
const atOnce = 6;

/** Finding 5: a small file that decodes to a large picture, uploaded once and then six times at once. */
export async function interlacedPictures(target: Target): Promise<Figure[]> {
  const picture = await interlacedPng();
  const figures: Figure[] = [];
  for (const count of [1, atOnce]) {
    const began = performance.now();
    const { result, beforeMb, maxMb } = await memoryDuring(target, () =>
      Promise.all(Array.from({ length: count }, () => attach(target, picture))),
    );
    const took = performance.now() - began;
    figures.push({
      what: `5. ${count} interlaced PNG of ${Math.round(picture.length / 1_000)} KB, ${side}², 16 bits, 4 channels`,
      measured: `memory ${beforeMb} → ${maxMb} MB in ${ms(took)}, uploads answered ${[...new Set(result)].join(', ')}`,
      holds: maxMb - beforeMb <= 250 && result.every((status) => status < 500),
    });
  }
  return figures;
}

async function attach(target: Target, bytes: Buffer): Promise<number> {
  const { service, token } = target;
  const client = new Client(service.url, token);
  const { body } = await client.send({ path: '/v1/issues?page_size=1' }).finally(() => client.close());
  const issueKey = /"key":"([^"]+)"/.exec(body)?.[1];
  const input = { issueKey, fileName: 'a.png', contentType: 'image/png', sizeBytes: bytes.length };
  const announced = await graphql(target, {
    query: 'mutation ($input: AttachmentCreateInput!) { attachmentCreate(input: $input) { uploadUrl } }',
    variables: { input },
  });
  const url = /"uploadUrl":"([^"]+)"/.exec(announced.body)?.[1];
  if (url === undefined) throw new Error(announced.body.slice(0, 500));
  return (await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })).status;
}

/** The first column, first row, column step and row step of the seven passes of Adam7. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** All bytes are zero, which deflate compresses a thousandfold. */
async function interlacedPng(): Promise<Buffer> {
  const lengths = passes.map(([x, y, dx, dy]) => {
    const [width, height] = [Math.ceil((side - x) / dx), Math.ceil((side - y) / dy)];
    return height * (1 + width * bytesOfPixel);
  });
  const zeros = Buffer.alloc(1 << 20);
  const raw = function* () {
    for (let left = lengths.reduce((sum, one) => sum + one, 0); left > 0; left -= zeros.length) {
      yield zeros.subarray(0, Math.min(left, zeros.length));
    }
  };
  const data = await buffer(Readable.from(raw()).pipe(createDeflate({ level: 9 })));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([16, 6, 0, 0, 1], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, checksum]);
}
