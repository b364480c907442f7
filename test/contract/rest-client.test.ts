import { expect, it } from '@jest/globals';
import { restClientAdvice } from '../../.ci/openapi/rest-client.ts';

it('the types of the REST client are generated from openapi.json as it is', () => {
  expect(restClientAdvice()).toBeUndefined();
});
