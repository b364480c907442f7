import { afterAll, beforeAll } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Attachment', () => world, { leave: ['signedDownloadUrl', 'signedPreviewUrl'] });
