import { type Entity, entity } from './builder/entity.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';

export const ProjectLink: Entity<'projectLink'> = entity('ProjectLink', {
  table: 'projectLink',
  prefix: 'plink',
  singular: 'project link',
  plural: 'project links',
  description: 'A link from a project to another page.',
  scope: 'projects:read',
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'asc' },
  filter: (f) => ({ id: f.id('plink'), createdUtc: f.time('createdUtc') }),
});

ProjectLink.implement((t) => ({
  url: t.expose('url', { type: 'URL', description: 'The URL that the link points to.' }),
  title: t.exposeString('title', { description: 'The title of the link.' }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was added.' }),
  createdByUserAccountId: t.idOf('user', 'createdByUserAccountId', {
    description: 'The account that added it.',
  }),
  createdBy: t.reference(Member, 'createdByUserAccountId', {
    by: 'userAccountId',
    description: 'The member who added it.',
  }),
  projectId: t.idOf('project', 'projectId', { description: 'The project of the link.' }),
  project: t.reference(Project, 'projectId', { description: 'The project of the link.' }),
}));
