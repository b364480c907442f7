import { deliveryState } from '../../model/codes.ts';
import { fold } from '../../model/fold.ts';
import { cycleStartMs, dayMs, isoDate } from './calendar.ts';
import type { DemoDelivery, DemoTeam, World } from './world.ts';

const lengthMs = 14 * dayMs;

/** For how long the company has worked in cycles. */
const weeksOfCycles = 32;

/** Adds the team's deliveries: past ones, the current one, and two to come; until its end if it has ended. */
export function addDeliveries(world: World, team: DemoTeam): void {
  const { cycle } = team.facts;
  if (!cycle) return;
  const { todayMs } = world.calendar;
  const firstMs = cycleStartMs(
    Math.max(team.createdMs, world.calendar.daysAgo(weeksOfCycles * 7)),
    cycle.offsetWeeks,
  );
  const lastMs = cycleStartMs(team.endedMs ?? todayMs + 2 * lengthMs, cycle.offsetWeeks);
  for (let startMs = firstMs; startMs <= lastMs; startMs += lengthMs) {
    const number = team.deliveries.length + 1;
    const createdMs = startMs - 30 * dayMs;
    const delivery: DemoDelivery = {
      id: world.ids.uuid(createdMs),
      name: `${cycle.word} ${number}`,
      startMs,
      endMs: startMs + lengthMs,
    };
    team.deliveries.push(delivery);
    addRow(world, team, { ...delivery, number, createdMs });
  }
}

/** The delivery in whose time the moment lies. */
export function deliveryAt(team: DemoTeam, ms: number): DemoDelivery | undefined {
  return team.deliveries.find((delivery) => delivery.startMs <= ms && ms < delivery.endMs);
}

const goals = [
  'Ship what is in review before starting anything new.',
  'Half of the capacity goes to reports from the summer timetable.',
  'No new features: reliability only.',
  'Prepare for the season opening.',
  '',
];

function addRow(
  world: World,
  team: DemoTeam,
  delivery: DemoDelivery & { number: number; createdMs: number },
): void {
  const { id, name, number, startMs, endMs, createdMs } = delivery;
  const { todayMs } = world.calendar;
  const state = endMs <= todayMs ? 'completed' : startMs <= todayMs ? 'active' : 'planned';
  world.rows.delivery.push({
    workspaceId: world.workspaceId,
    id,
    teamId: team.id,
    number,
    name,
    nameFold: fold(name),
    description: goals[(number + team.code.charCodeAt(0)) % goals.length] ?? '',
    startsOn: isoDate(startMs),
    endsOn: isoDate(endMs - dayMs),
    state: deliveryState[state],
    createdUtc: new Date(createdMs),
    updatedUtc: new Date(Math.min(startMs, todayMs)),
  });
}
