import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { History } from './history.ts'
import { Inquiry } from './inquiry/inquiry.ts'
import { triesForEver } from './invariants/convergence.ts'
import { invariantsOfRun } from './invariants/index.ts'
import { loadStrategies } from './load-strategies.ts'
import { Manifests } from './manifests.ts'
import { Network } from './network.ts'
import { isFault } from './operation.ts'
import { Player } from './player.ts'
import { Reader } from './reader.ts'
import type { Scenario } from './scenario.ts'
import { Servers } from './servers.ts'
import { Trouble } from './trouble.ts'
import type { Invariant, Violation } from './view.ts'

/** What came of a run. */
export interface RunResult {
  /** Rules that were broken; none in a clean run. */
  readonly violations: readonly Violation[]
  /** Answers to the question why that were checked. */
  readonly answers: number
  /** How much virtual time it took, in milliseconds. */
  readonly virtualMs: number
  /** Transactions of the store. */
  readonly writes: number
  /** A text that two runs have in common only if they were the same, byte for byte. */
  readonly digest: string
}

/** How long everything that crashed is given to be back before rest is judged: the longest crash of a node. */
const recoveryMs = 12 * 60_000
/** How long a cluster has to come to rest after that, and how often it is looked at. */
const restMaxMs = 60 * 60_000
const lookMs = 2 * 60_000
/** Who was refused before tries again within this time: the longest back-off of controllers. */
const backOffMaxMs = 17 * 60_000
/** What comes of that may change how autoscalers scale: they look 15 s later, and remember what they saw for five minutes. */
const stabilizationMaxMs = 6 * 60_000
/** At rest nothing but signs of life is written for so long. */
const quietMs = 15 * 60_000

/** A run takes some 430 writes. One that has written so often goes round in circles. */
const writesMaxDefault = 20_000

/** How far a run may go. */
export interface RunLimits {
  /** Transactions of the store; 20,000 where it does not say. A run that tries more breaks a rule, and writes nothing from there on. */
  readonly writesMax?: number
  /** About how many objects it is asked why they are as they are, at each operation and in the end; none where it does not say. */
  readonly questions?: number
}

/**
 * Plays a scenario on a cluster of its own in virtual time and holds it against the invariants. The same scenario gives the same
 * run, byte for byte.
 */
export async function run(scenario: Scenario, limits: RunLimits = {}): Promise<RunResult> {
  await loadStrategies()
  const environment = virtualEnvironment({ seed: scenario.seed })
  const { clock } = environment
  const network = new Network(environment, scenario.operations, () => servers.store.latest())
  const isGivenFiles = scenario.operations.some(({ type }) => type === 'manifest')
  const manifests = isGivenFiles ? new Manifests(scenario.seed) : undefined
  const servers: Servers = new Servers(environment, network, {
    writesMax: limits.writesMax ?? writesMaxDefault,
    manifests,
    onUnexplained: (user, what) => history.report('every write says why', `${user}: ${what}`),
  })
  const invariants = invariantsOfRun(() => manifests?.given ?? new Map())
  const isCalm = !scenario.operations.some(isFault) && Object.keys(scenario.skewsMs).length === 0
  const trouble = new Trouble(clock)
  const areClocksTrue = Object.keys(scenario.skewsMs).length === 0
  const history: History = new History(servers.store, environment, network, invariants, trouble, areClocksTrue)
  await servers.start(scenario)
  await clock.settle()
  const readers = servers.clients.map((client) => new Reader(client, environment, servers.store.latest()))
  history.podEvents.length = 0
  for (const reader of readers) reader.start()
  const player = new Player(servers, environment, network, trouble, (rule, message) => history.report(rule, message))
  await player.prepare(scenario.operations)
  const startMs = clock.now()
  const inquiry = limits.questions === undefined ? undefined : new Inquiry(servers, environment, history, network)
  const ask = async () => inquiry?.ask(limits.questions ?? 0)
  try {
    for (const operation of scenario.operations) {
      const waitMs = startMs + operation.atMs - clock.now()
      if (waitMs > 0) await clock.advance(waitMs)
      await ask()
      await player.play(operation)
      await clock.settle()
      await ask()
    }
    player.mend()
    if (!isCalm) await clock.advance(recoveryMs)
    await player.calm()
    if (!servers.isExhausted) await comeToRest(environment, history, invariants)
    await player.check()
    await ask()
    if (servers.isExhausted) history.report('a run comes to an end', 'it wrote as often as it may, and would go on')
    for (const reader of readers) {
      const difference = reader.difference(history.podEvents)
      if (difference !== undefined) history.report('a watcher reads what was written', difference)
    }
    const { violations } = history
    const answers = inquiry?.answers ?? 0
    return {
      violations,
      answers,
      virtualMs: clock.now() - startMs,
      writes: servers.store.latest(),
      digest: history.digest(),
    }
  } finally {
    history.close()
    inquiry?.close()
    for (const reader of readers) await reader.stop()
    await servers.stop()
  }
}

/** Waits until all is as it has to be in the end, and sees to it that it stays so. */
async function comeToRest(
  { clock }: VirtualEnvironment,
  history: History,
  invariants: readonly Invariant[],
): Promise<void> {
  const problems = () =>
    invariants.flatMap(({ name, finally: check }) => (check?.(history) ?? []).map((message) => ({ name, message })))
  for (let waitedMs = 0; waitedMs < restMaxMs; waitedMs += lookMs) {
    await clock.advance(lookMs)
    if (problems().length === 0) break
  }
  await clock.advance(backOffMaxMs + stabilizationMaxMs)
  const restMs = clock.now()
  await clock.advance(quietMs)
  for (const { name, message } of problems()) history.report(name, message)
  const { atMs, what } = history.lastChange
  if (problems().length === 0 && atMs > restMs && !triesForEver(history))
    history.report('what is at rest stays at rest', `${what}, ${(atMs - restMs) / 1000} s later`)
}
