import { extname } from 'node:path';
import { Random } from './random.ts';
import { pdfDocument, pngPicture, tarArchive } from './binary-files.ts';

/** The content of a demo attachment. It depends on the file's name alone and is the same on every machine. */
export function attachmentBytes({ fileName }: { fileName: string }): Buffer {
  const random = new Random(`file ${fileName}`);
  const extension = extname(fileName).slice(1);
  const binary = binaries[extension];
  if (binary) return binary(random, fileName);
  const text = texts[extension];
  if (!text) throw new Error(`The demo makes no .${extension} files.`);
  return Buffer.from(text(random, fileName));
}

const harbours = [
  'Tallinn',
  'Helsinki',
  'Mariehamn',
  'Visby',
  'Nynäshamn',
  'Saint-Malo',
  'Pireás',
  'Bodø',
  'Þorlákshöfn',
];

const binaries: Record<string, (random: Random, fileName: string) => Buffer> = {
  png: (random) => pngPicture(random),
  pdf: (random, fileName) =>
    pdfDocument(
      `Report ${fileName}`,
      repeat(18, () => logLine(random)),
    ),
  tar: (random) => tarArchive(repeat(3, (day) => ({ name: `gate-${day + 1}.log`, text: log(random) }))),
};

const texts: Record<string, (random: Random, fileName: string) => string> = {
  log,
  csv: (random) => {
    const rows = repeat(
      40,
      (index) =>
        `${1000 + index},${random.pick(harbours)},${random.pick(harbours)},${random.integer(0, 900)}`,
    );
    return `sailing,from,to,passengers\n${rows.join('\n')}\n`;
  },
  md: (random, fileName) => {
    const points = repeat(
      6,
      () => `- **${random.pick(harbours)}**: ${random.integer(1, 60)} reports, ${random.integer(0, 9)} open`,
    );
    return `# Notes (${fileName})\n\nFrom the visits of this week.\n\n${points.join('\n')}\n\n> To be continued on Thursday.\n`;
  },
  ts: (random) => `import { searchSailings } from '@halyard-tern/sailings';

/** Run it twice within a minute: the second answer is empty. */
const request = { from: '${random.pick(harbours)}', to: '${random.pick(harbours)}', passengers: ${random.integer(1, 6)} };

for (const attempt of [1, 2]) {
  const sailings = await searchSailings(request);
  console.log(\`attempt \${attempt}: \${sailings.length} sailings\`);
}
`,
  sql: (random) => `-- Sailings whose report and ledger disagree
select s.id, s.departs_utc, r.passengers, l.passengers as in_ledger
from sailing s
join report r on r.sailing_id = s.id
join ledger l on l.sailing_id = s.id
where r.passengers <> l.passengers
  and s.harbour = '${random.pick(harbours)}'
order by s.departs_utc desc
limit ${random.integer(20, 200)};
`,
  json: (random) =>
    `${JSON.stringify({ status: 'error', harbour: random.pick(harbours), attempts: repeat(5, (at) => ({ at, milliseconds: random.integer(20, 9000) })) }, null, 2)}\n`,
  py: (random) => `import statistics

counts = ${JSON.stringify(repeat(24, () => random.integer(100, 900)))}

print("median", statistics.median(counts))
print("spread", round(statistics.stdev(counts), 1))
`,
};

function log(random: Random): string {
  return repeat(60, () => `${logLine(random)}\n`).join('');
}

function logLine(random: Random): string {
  const time = [random.integer(0, 23), random.integer(0, 59), random.integer(0, 59)].map((part) =>
    String(part).padStart(2, '0'),
  );
  const level = random.weighted({ INFO: 8, WARN: 2, ERROR: 1 });
  return `${time.join(':')} ${level.padEnd(5)} gate=${random.integer(1, 61)} took ${random.integer(2, 4000)} ms`;
}

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
