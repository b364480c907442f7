import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/references.ts';
import { Team } from './teams.ts';

export const Label: Entity<'label'> = entity('Label', {
  table: 'label',
  prefix: 'label',
  singular: 'label',
  plural: 'labels',
  description:
    'A label of a team or, without a team, of the whole workspace. A label that is a group contains other labels and cannot be put on an issue.',
  scope: 'token',
  orders: { NAME: { column: 'nameFold', kind: 'text', nullable: false } },
  defaultOrder: { field: 'NAME', direction: 'asc' },
  filter: (f) => ({
    id: f.id('label'),
    name: f.text('nameFold'),
    isGroup: f.boolean('isGroup'),
    teamId: f.id('team', 'teamId'),
    groupId: f.id('label', 'groupId'),
  }),
});

Label.implement((t) => ({
  name: t.exposeString('name', { description: 'The name of the label.' }),
  description: t.exposeString('description', { description: 'What the label is for; may be empty.' }),
  color: t.exposeString('color', { description: 'The color code; empty if it has none.' }),
  isGroup: t.exposeBoolean('isGroup', { description: 'Whether it is a group of labels.' }),
  teamId: t.idOf('team', 'teamId', {
    nullable: true,
    description: 'The team that the label belongs to; null for a label of the whole workspace.',
  }),
  team: t.reference(Team, 'teamId', {
    nullable: true,
    description: 'The team that the label belongs to; null for a label of the whole workspace.',
  }),
  groupId: t.idOf('label', 'groupId', {
    nullable: true,
    description: 'The group that the label belongs to; null if it is in none.',
  }),
  group: t.reference(Label, 'groupId', {
    nullable: true,
    description: 'The group that the label belongs to; null if it is in none.',
  }),
  groupName: t.computed({
    type: 'String',
    nullable: true,
    columns: [],
    references: { group: via(Label, 'groupId', ['name']) },
    compute: (_label, { group }) => group?.name,
    description: 'The name of the group; null if the label is in none.',
  }),
}));
