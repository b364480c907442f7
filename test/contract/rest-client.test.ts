import { expect, it } from '@jest/globals';
import { restClientAdvice } from '../../.ci/openapi/rest-client.ts';

it('the types of the REST client match openapi.json', () => {
  expect(restClientAdvice()).toBeUndefined();
});
