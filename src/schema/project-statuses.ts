import { type Entity, entity } from './builder/entity.ts';
import { ProjectState } from './builder/enums.ts';

export const ProjectStatus: Entity<'projectStatus'> = entity('ProjectStatus', {
  table: 'projectStatus',
  prefix: 'pstatus',
  singular: 'project status',
  plural: 'project statuses',
  description: 'A configurable status of projects, with a fixed state.',
  scope: 'token',
  orders: { POSITION: { column: 'position', kind: 'int', nullable: false } },
  defaultOrder: { field: 'POSITION', direction: 'asc' },
  filter: (f) => ({ id: f.id('pstatus'), name: f.text('nameFold'), state: f.enum(ProjectState, 'state') }),
});

ProjectStatus.implement((t) => ({
  name: t.exposeString('name', { description: 'The name of the status.' }),
  description: t.exposeString('description', { description: 'What the status means; may be empty.' }),
  color: t.exposeString('color', { description: 'The color code; empty if it has none.' }),
  state: t.expose('state', { type: ProjectState, description: 'The fixed state of the status.' }),
  position: t.exposeInt('position', { description: 'Its position among the project statuses.' }),
}));
