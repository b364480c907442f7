import type { Random } from '../support/random.ts';

// A slow and simple model of trends: it takes each event's date, and each issue's stage on a date.

export const categories = {
  Backlog: 'BACKLOG',
  Todo: 'OPEN',
  'In Progress': 'ACTIVE',
  Done: 'COMPLETED',
  Canceled: 'CANCELED',
} as const;
export type StatusName = keyof typeof categories;
const statusNames = Object.keys(categories) as StatusName[];

export interface ModelStage {
  ms: number;
  status: StatusName;
  delivery: number | null;
  project: string | null;
  estimate: number | null;
  deleted: boolean;
}

export interface ModelIssue {
  team: string;
  priority: string;
  labels: string[];
  stages: ModelStage[];
  createdMs: number;
  startedMs: number | null;
  closedMs: number | null;
  last: ModelStage;
}

const hourMs = 3_600_000;
const firstMs = Date.UTC(2024, 8, 20);
const lastMs = Date.UTC(2025, 11, 31);

/** Makes an issue with a random history, with many events near midnight in some time zone. */
export function randomIssue(random: Random): ModelIssue {
  const count = random.integer(1, 9);
  const moment = () => {
    const ms = random.integer(firstMs, lastMs);
    return random.chance(0.5) ? ms - (ms % hourMs) + random.integer(-1, 1) : ms;
  };
  const times = Array.from({ length: count }, moment).toSorted((one, other) => one - other);
  const stages: ModelStage[] = [];
  for (const ms of times) {
    const before = stages.at(-1);
    const kept = <Value>(value: Value | undefined, next: () => Value, chance: number) =>
      value === undefined || random.chance(chance) ? next() : value;
    stages.push({
      ms,
      status: kept(before?.status, () => random.pick(before ? statusNames : statusNames.slice(0, 3)), 0.7),
      delivery: kept(before?.delivery, () => random.pick([null, 1, 2]), 0.3),
      project: kept(before?.project, () => random.pick([null, 'RED', 'BLUE']), 0.2),
      estimate: kept(before?.estimate, () => random.pick([null, 0, 1, 5]), 0.2),
      deleted: before !== undefined && random.chance(0.15),
    });
  }
  return {
    team: random.pick(['ENG', 'OPS']),
    priority: random.pick(['none', 'urgent', 'low']),
    labels: random.pick([[], ['Bug'], ['Bug', 'Feature']]),
    stages,
    createdMs: times[0] ?? 0,
    startedMs: stages.find(({ status }) => status === 'In Progress')?.ms ?? null,
    closedMs: closedMs(stages),
    last: stages.at(-1) as ModelStage,
  };
}

export function isClosed({ status }: ModelStage): boolean {
  return status === 'Done' || status === 'Canceled';
}

/** When the issue last went from an open to a terminal status, if it is closed. */
function closedMs(stages: readonly ModelStage[]): number | null {
  const open = stages.findLastIndex((stage) => !isClosed(stage));
  return stages[open + 1]?.ms ?? null;
}

export type Every = 'DAY' | 'WEEK' | 'MONTH';

/** The calendar of a time zone. */
export class Calendar {
  readonly #format: Intl.DateTimeFormat;
  readonly #every: Every;
  readonly #dates = new Map<number, string>();

  constructor(timeZone: string, every: Every) {
    this.#every = every;
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    this.#format = new Intl.DateTimeFormat('en-CA', { timeZone, ...parts });
  }

  dateOf(ms: number): string {
    const known = this.#dates.get(ms) ?? this.#format.format(ms);
    this.#dates.set(ms, known);
    return known;
  }

  /** The first day of the period that contains a date. */
  periodOf(date: string): string {
    if (this.#every === 'DAY') return date;
    if (this.#every === 'MONTH') return `${date.slice(0, 7)}-01`;
    let day = new Date(`${date}T00:00:00Z`);
    while (day.getUTCDay() !== 1) day = new Date(day.getTime() - 24 * hourMs);
    return day.toISOString().slice(0, 10);
  }

  /** The first days of all periods with a day from one date to another. */
  periods(from: string, to: string): string[] {
    const found = new Set<string>();
    for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 24 * hourMs)
      found.add(this.periodOf(new Date(ms).toISOString().slice(0, 10)));
    return [...found];
  }

  /** The stage of an issue at the end of a period; undefined before its creation. */
  stageAt({ stages }: ModelIssue, period: string): ModelStage | undefined {
    return stages.findLast(({ ms }) => this.periodOf(this.dateOf(ms)) <= period);
  }
}

/** The percentile of the values for a share, such as 0.5 for the median. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? null;
}
