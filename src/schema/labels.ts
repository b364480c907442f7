import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/via.ts';
import { Team } from './teams.ts';

export const Label: Entity<'label'> = entity('Label', {
  table: 'label',
  prefix: 'label',
  singular: 'label',
  plural: 'labels',
  description:
    'A label of a team or, without one, of the whole workspace. A group gathers labels and is put on nothing.',
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
  description: t.exposeString('description', { description: 'What it is for; empty when nothing is said.' }),
  color: t.exposeString('color', { description: 'The color code; empty when none.' }),
  isGroup: t.exposeBoolean('isGroup', { description: 'Is it a group of labels.' }),
  teamId: t.idOf('team', 'teamId', {
    nullable: true,
    description: 'The team whose label it is; null for one of the workspace.',
  }),
  team: t.reference(Team, 'teamId', {
    nullable: true,
    description: 'The team whose label it is; null for one of the workspace.',
  }),
  groupId: t.idOf('label', 'groupId', { nullable: true, description: 'The group that it belongs to.' }),
  group: t.reference(Label, 'groupId', { nullable: true, description: 'The group that it belongs to.' }),
  groupName: t.computed({
    type: 'String',
    nullable: true,
    columns: [],
    references: { group: via(Label, 'groupId', ['name']) },
    compute: (_label, { group }) => group?.name,
    description: 'The name of its group.',
  }),
}));
