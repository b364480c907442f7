import { afterAll, beforeAll } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Team', () => world);
describeReads('Issue', () => world);
describeReads('Member', () => world);
describeReads('Project', () => world);
describeReads('ProjectStatus', () => world);
describeReads('ProjectLink', () => world);
describeReads('IssueStatus', () => world);
describeReads('Label', () => world);
describeReads('Delivery', () => world);
describeReads('RepositoryContext', () => world);
describeReads('Comment', () => world);
describeReads('IssueLink', () => world);
describeReads('Attachment', () => world);
describeReads('ActivityEntry', () => world);
describeReads('AgentThread', () => world);
describeReads('AgentThreadMessage', () => world);
describeReads('Workspace', () => world);
