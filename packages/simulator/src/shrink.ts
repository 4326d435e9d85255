import type { Scenario } from './scenario.ts'

/** Tries of a smaller scenario, at most. */
const triesMax = 200

/**
 * The smallest scenario it finds that still fails, by leaving operations out: first many at a time, then one by one. What is left
 * is what it takes.
 */
export async function shrink(scenario: Scenario, fails: (scenario: Scenario) => Promise<boolean>): Promise<Scenario> {
  let smallest = scenario
  let tries = 0
  for (
    let chunk = Math.ceil(scenario.operations.length / 2);
    chunk >= 1;
    chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)
  ) {
    for (let from = 0; from < smallest.operations.length && tries < triesMax; ) {
      const operations = smallest.operations.toSpliced(from, chunk)
      tries += 1
      if (operations.length > 0 && (await fails({ ...smallest, operations }))) smallest = { ...smallest, operations }
      else from += chunk
    }
  }
  return smallest
}
