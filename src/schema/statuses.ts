import { type Entity, entity } from './builder/entity.ts';
import { StatusCategory } from './builder/enums.ts';
import { Team } from './teams.ts';

export const IssueStatus: Entity<'status'> = entity('IssueStatus', {
  table: 'status',
  prefix: 'status',
  singular: 'status',
  plural: 'statuses',
  description: 'A configurable status of the issues of one team, with a fixed category.',
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
  description: t.exposeString('description', { description: 'What the status means; may be empty.' }),
  color: t.exposeString('color', { description: 'The color code; empty if it has none.' }),
  category: t.expose('category', { type: StatusCategory, description: 'The fixed category of the status.' }),
  position: t.exposeInt('position', { description: 'Its position among the statuses of the team.' }),
  isInitial: t.exposeBoolean('isInitial', {
    description: 'Whether new issues start in this status unless another one is chosen.',
  }),
  isTerminal: t.exposeBoolean('isTerminal', { description: 'Whether an issue in this status is closed.' }),
  teamId: t.idOf('team', 'teamId', { description: 'The team that the status belongs to.' }),
  team: t.reference(Team, 'teamId', { description: 'The team that the status belongs to.' }),
}));
