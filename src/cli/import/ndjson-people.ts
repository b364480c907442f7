import { codeTables } from '../../model/codes.ts';
import type { ImportedPerson } from '../../portability/import/import-issue.ts';
import { namedPerson, type PersonParser, type RecordReader } from './record-reader.ts';

const { user, agent, service } = codeTables.principalKind;

/** A person as an object, or as a text: an e-mail address or a name. */
export const personParser: PersonParser = { ofText: namedPerson, ofObject: personOf };

function personOf(reader: RecordReader): ImportedPerson | undefined {
  const [name, emailAddress] = [reader.trimmedText('displayName'), reader.trimmedText('emailAddress')];
  const principalKind = reader.code('principalKind', { user, agent, service });
  if (name === undefined && emailAddress === undefined) return undefined;
  return { name: name ?? emailAddress ?? '', emailAddress, principalKind };
}
