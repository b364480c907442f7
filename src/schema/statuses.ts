import { type Entity, entity } from './builder/entity.ts';
import { StatusCategory } from './builder/enums.ts';
import { Team } from './teams.ts';

export const IssueStatus: Entity<'status'> = entity('IssueStatus', {
  table: 'status',
  prefix: 'status',
  singular: 'status',
  plural: 'statuses',
  description: 'A status that issues of one team can be in: a configurable record with a fixed category.',
  scope: 'token',
  filter: (f) => ({
    id: f.id('status'),
    name: f.text('nameFold'),
    category: f.enum(StatusCategory, 'category'),
    isInitial: f.boolean('isInitial'),
    isTerminal: f.boolean('isTerminal'),
    teamId: f.id('team', 'teamId'),
  }),
});

IssueStatus.implement((t) => ({
  name: t.exposeString('name', { description: 'The name of the status.' }),
  description: t.exposeString('description', { description: 'What it means; empty when nothing is said.' }),
  color: t.exposeString('color', { description: 'The color code; empty when none.' }),
  category: t.expose('category', { type: StatusCategory, description: 'What the status stands for.' }),
  position: t.exposeInt('position', { description: 'Its place among the statuses of the team.' }),
  isInitial: t.exposeBoolean('isInitial', {
    description: 'Do new issues start here when nothing else is said.',
  }),
  isTerminal: t.exposeBoolean('isTerminal', { description: 'Is an issue in this status closed.' }),
  teamId: t.idOf('team', 'teamId', { description: 'The team whose status it is.' }),
  team: t.reference(Team, 'teamId', { description: 'The team whose status it is.' }),
}));
