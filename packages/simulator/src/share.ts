import { describeOperation } from './operation.ts'
import { type RunResult, run } from './run.ts'
import { type Scenario, scenarioOf } from './scenario.ts'
import { shrink } from './shrink.ts'

/** Seeds that one process plays: from the first on in steps, before the end. */
export interface Share {
  readonly first: number
  readonly step: number
  readonly end: number
  /** Whether scenarios that break a rule are made as small as possible, which takes up to 200 runs. */
  readonly shrinks: boolean
  /** Whether it ends with the first scenario that breaks a rule. */
  readonly stopsAtFirst: boolean
  /** About how many objects each run is asked why, again and again; none where it is 0. */
  readonly questions: number
}

/** Every so many runs one is played twice: the same seed has to give the same run. */
const repeatEvery = 50

/** Plays these seeds, and tells of each when it is done: with a text where it broke a rule. Resolves to how many did. */
export async function share(
  { first, step, end, shrinks, stopsAtFirst, questions }: Share,
  tell: (seed: number, text: string | undefined) => void,
): Promise<number> {
  let failed = 0
  for (let seed = first; seed < end; seed += step) {
    const scenario = scenarioOf(seed)
    const attempt = (tried: Scenario) => attemptWith(tried, questions)
    const result = await attempt(scenario)
    const again = seed % repeatEvery === 0 ? await attempt(scenario) : result
    let text =
      result.violations.length > 0 ? await account(scenario, result, attempt, { shrinks, questions }) : undefined
    if (again.digest !== result.digest) text = `seed ${seed} gives another run the second time`
    if (text !== undefined) failed += 1
    tell(seed, text)
    if (failed > 0 && stopsAtFirst) break
  }
  return failed
}

/** An error that nobody expected is a violation too. */
async function attemptWith(scenario: Scenario, questions: number): Promise<RunResult> {
  try {
    return await run(scenario, questions === 0 ? {} : { questions })
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const violations = [{ invariant: 'nothing unexpected is thrown', message, atMs: 0 }]
    return { violations, answers: 0, virtualMs: 0, writes: 0, digest: '' }
  }
}

/** What it takes to break the first of the rules, for people. */
async function account(
  scenario: Scenario,
  { violations }: RunResult,
  attempt: (scenario: Scenario) => Promise<RunResult>,
  { shrinks, questions }: Pick<Share, 'shrinks' | 'questions'>,
): Promise<string | undefined> {
  const [violation] = violations
  if (violation === undefined) return undefined
  const breaksTheSame = async (smaller: Scenario) =>
    (await attempt(smaller)).violations.some(({ invariant }) => invariant === violation.invariant)
  const smallest = shrinks ? await shrink(scenario, breaksTheSame) : scenario
  const shown = (await attempt(smallest)).violations.filter(({ invariant }) => invariant === violation.invariant)
  const { seed, nodes, servers, skewsMs } = scenario
  const skews = Object.keys(smallest.skewsMs).length === 0 ? '' : `, clocks ahead by ms: ${JSON.stringify(skewsMs)}`
  return [
    `seed ${seed} (${nodes} nodes, ${servers} servers${skews}) breaks: ${violation.invariant}`,
    ...shown.slice(0, 5).map(({ atMs, message }) => `${(atMs / 1000).toFixed(1).padStart(7)} s  ✗ ${message}`),
    `by ${smallest.operations.length} of ${scenario.operations.length} operations:`,
    ...smallest.operations.map(describeOperation),
    `again: npm run simulate -- --seed ${seed}${questions === 0 ? '' : ` --questions ${questions}`}`,
  ].join('\n')
}
