import { createHash } from 'node:crypto';
import { Violations } from '../../resolvers/errors.ts';
import { parseUrl } from '../../resolvers/link-urls.ts';
import { hourMs, later, workingTime } from './calendar.ts';
import type { Scene } from './lifecycle.ts';
import { changeUrl } from './repositories.ts';
import { type DemoMember, wasActive } from './world.ts';

interface Link {
  url: string;
  title: string;
}

const pages: readonly Link[] = [
  { url: 'https://docs.halyard-tern.example/season-readiness', title: 'Season readiness' },
  {
    url: 'https://docs.halyard-tern.example/incidents/long-weekend',
    title: 'Incident report: the long weekend',
  },
  { url: 'https://insights.halyard-tern.example/funnel', title: 'Funnel by line' },
  { url: 'https://design.halyard-tern.example/files/keel-4', title: 'Keel 4, latest drawings' },
  { url: 'https://status.halyard-tern.example/history', title: 'Status history' },
  {
    url: 'https://www.ponant-lines.example/conditions?lang=fr',
    title: 'Conditions of carriage (Ponant Lines)',
  },
];

/** Plans the links: the change under review, a page that helps, and a few that are taken away again. */
export function planLinks(scene: Scene, endMs: number): void {
  const { draft, random, agenda, worker } = scene;
  const number = random.integer(120, 4800);
  const changeAt = changeUrl(draft.team, number);
  const isChanged = random.chance(draft.fate === 'done' || draft.fate === 'story' ? 0.55 : 0);
  if (changeAt && isChanged) {
    const reviewMs = workingTime(Math.max(endMs - 80 * hourMs, draft.createdMs + 6 * hourMs), random);
    agenda.add(reviewMs, (atMs) =>
      addLink(scene, atMs, worker, { url: changeAt, title: `#${number} ${draft.title}` }),
    );
  }
  for (const page of random.sample(
    pages,
    random.weighted({ none: 82, one: 14, two: 4 }) === 'none' ? 0 : random.integer(1, 2),
  )) {
    agenda.add(later(draft.createdMs, random, 1, 90), (atMs) => addLink(scene, atMs, draft.reporter, page));
  }
}

function addLink(scene: Scene, atMs: number, author: DemoMember, { url, title }: Link): void {
  const { world, record, random, agenda } = scene;
  if (!wasActive(author, atMs)) return;
  const row = {
    workspaceId: world.workspaceId,
    id: world.ids.uuid(atMs),
    issueId: record.id,
    url,
    urlHash: createHash('sha256')
      .update(parseUrl(new Violations(), 'url', url).normalized)
      .digest(),
    title: title.slice(0, 255),
    createdUtc: new Date(atMs),
    createdByUserAccountId: author.userAccountId,
    deletedUtc: null as Date | null,
  };
  world.rows.issueLink.push(row);
  record.linkCount += 1;
  record.log(atMs, {
    eventType: 'issue-link.created.v1',
    actor: author,
    deed: `added the link “${row.title}”`,
  });
  if (!random.chance(0.04)) return;
  agenda.add(atMs + 5 * hourMs, (atMs) => {
    row.deletedUtc = new Date(atMs);
    record.linkCount -= 1;
    const deed = `removed the link “${row.title}”`;
    record.log(atMs, { eventType: 'issue-link.deleted.v1', actor: author, deed });
  });
}
