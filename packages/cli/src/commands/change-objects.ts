import type { Host } from '../host.ts'
import { type Outcome, type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { findTargets, type Target, type TargetFlags } from './targets.ts'

/** Flags of every command that changes objects which are there. */
export interface ChangeFlags extends ConnectionFlags, TargetFlags, OutcomeFlags {}

/** What a command does with an object; undefined where it has printed all there is to say. */
export type Change = (session: Session, target: Target) => Promise<Outcome | undefined>

/**
 * Changes each object that the arguments, files and selectors mean, one after another, and says what came of it. What
 * fails is reported and the others still done; rejects with all failures in the end.
 */
export async function changeObjects(
  host: Host,
  args: readonly string[],
  verb: string,
  flags: ChangeFlags,
  change: Change,
): Promise<void> {
  const printer = await OutcomePrinter.for(host, flags)
  await withSession(host, flags, async (session) => {
    const { found, errors } = await findTargets(host, session, args, verb, flags)
    const failures = [...errors, ...(await changeEach(session, found, printer, change))]
    if (failures.length > 0) throw new AggregateError(failures)
  })
}

/** Changes each of these objects, and returns what failed. */
export async function changeEach(
  session: Session,
  targets: readonly Target[],
  printer: OutcomePrinter,
  change: Change,
): Promise<readonly unknown[]> {
  const failures: unknown[] = []
  for (const target of targets) {
    try {
      const outcome = await change(session, target)
      if (outcome !== undefined) await printer.print(outcome.resource ?? target.resource, outcome)
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}
