import { type Cause, humanDuration, parseTime } from '@coracle/api'
import type { Facts } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

/** Two writers contend where they have taken turns so often, */
const turnsMin = 6
/** in at most so many milliseconds, the last time not longer ago than that. */
const spanMaxMs = 10 * 60_000

/**
 * Two writers change an object in turns, again and again: each takes back what the other has set. The record does not have the fields;
 * who takes turns with whom it does.
 */
export function contention({ object, causes, nowMs }: Facts): Diagnosis | undefined {
  const writes = causes.filter((cause) => changesDesired(cause, object.metadata.uid))
  const [latest, other] = new Set(writes.map(writerOf))
  if (latest === undefined || other === undefined) return undefined
  let turns = 0
  let oldest: Cause | undefined
  for (const cause of writes) {
    if (writerOf(cause) !== (turns % 2 === 0 ? latest : other)) break
    turns += 1
    oldest = cause
  }
  const [newest] = writes
  if (newest === undefined || oldest === undefined || turns < turnsMin) return undefined
  const [fromMs, toMs] = [timeOf(oldest), timeOf(newest)]
  if (toMs - fromMs > spanMaxMs || nowMs - toMs > spanMaxMs) return undefined
  return {
    reason: 'ManagersContend',
    what: 'two writers change it in turns',
    because: `${latest} and ${other} have changed it ${turns} times in ${humanDuration(toMs - fromMs)}, each after the other`,
    remedy:
      'see which fields both set (`coracle get -o yaml --show-managed-fields`), and take them from one of the two: an autoscaler and a manifest with replicas are such a pair',
  }
}

/** Whether somebody wanted the object to be another, rather than told how it is. Its own controller keeps to what others want. */
function changesDesired({ changes, request, reconcile }: Cause, uid: string | undefined): boolean {
  const own = changes.find((change) => change.uid === uid)
  if (own?.operation !== 'update' || request.verb !== 'update') return false
  return (request.subresource === undefined || request.subresource === 'scale') && reconcile?.object.uid !== uid
}

const timeOf = ({ metadata }: Cause): number => parseTime(metadata.creationTimestamp)

/** Who writes, as people tell writers apart: a controller, or a user with what it writes by. */
const writerOf = ({ reconcile, user, request: { fieldManager } }: Cause): string =>
  reconcile?.controller ?? (fieldManager === undefined ? user : `${user} (${fieldManager})`)
