import assert from 'node:assert/strict';
import type { Facts } from './facts.ts';
import { Connection } from './http/connection.ts';
import { refuseFailure } from './load.ts';
import type { RunningContender } from './process.ts';
import { Random } from './random.ts';
import type { Workload } from './workloads/workload.ts';

/** The answer of the first contender, with which those of the others are compared. */
export interface CheckedAnswer {
  readonly contender: string;
  readonly bytes: number;
}

const requestCount = 5;
/**
 * Field names differ between contenders, so sizes may differ by this factor. Missing work would make a larger
 * difference.
 */
const maxSizeRatio = 1.5;

/**
 * Sends each contender the same requests and compares the answers, converted to the product's field names. Throws if
 * they differ.
 */
export async function checkEqual(
  all: readonly RunningContender[],
  workload: Workload,
  facts: Facts,
): Promise<CheckedAnswer[]> {
  const random = new Random(42);
  const sums = new Map<string, number>();
  for (let index = 0; index < requestCount; index += 1) {
    const input = workload.input(random, facts, random);
    let expected: { by: string; answer: unknown } | undefined;
    for (const running of all) {
      const { contender } = running;
      const request = contender.request(workload.id, input);
      if (!request) continue;
      const connection = await Connection.open(running.port);
      const answer = await connection.send(request).finally(() => connection.close());
      refuseFailure(request, answer);
      sums.set(contender.name, (sums.get(contender.name) ?? 0) + answer.body.length / requestCount);
      const json: unknown = JSON.parse(answer.body.toString());
      const comparable = withoutFields(
        contender.canonical?.(workload.id, json) ?? json,
        workload.volatile ?? [],
      );
      if (expected) {
        const message = `${workload.id}: ${contender.title} answers differently from ${expected.by}`;
        try {
          assert.deepEqual(comparable, expected.answer);
        } catch (error) {
          throw new Error(
            `${message} to ${JSON.stringify(input)}\n${(error as Error).message.slice(0, 3_000)}`,
            { cause: error },
          );
        }
      } else expected = { by: contender.title, answer: comparable };
    }
  }
  const checked = [...sums].map(([contender, bytes]) => ({ contender, bytes }));
  const [first] = checked;
  for (const { contender, bytes } of checked) {
    // For very small answers, the sizes are not compared.
    if (!first || Math.max(bytes, first.bytes) < 500) continue;
    const ratio = bytes / first.bytes;
    assert.ok(
      ratio < maxSizeRatio && ratio > 1 / maxSizeRatio,
      `${workload.id}: ${contender} answers ${bytes} bytes, ${first.contender} ${first.bytes}`,
    );
  }
  return checked;
}

/** The answer without the fields that differ at each request. */
function withoutFields(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, names));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      names.includes(name) ? [] : [[name, withoutFields(inner, names)]],
    ),
  );
}
