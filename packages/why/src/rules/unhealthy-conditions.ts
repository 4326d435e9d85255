import { conditionsOf, saidBy } from '../conditions.ts'
import type { Facts } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

/** Conditions that are to be true, by custom, whatever the kind. Most telling last: what is not ready says so in general. */
const wanted: ReadonlySet<string> = new Set(['Ready', 'Available', 'Synced', 'Healthy', 'Succeeded', 'Reconciled'])
/** And those that are to be false. */
const unwanted: ReadonlySet<string> = new Set(['Stalled', 'Degraded', 'Failed', 'ReconcileError', 'Failing'])

/** What the controller of a kind that nothing else is known of says of an object itself. */
export function unhealthyConditions({ object }: Facts): readonly Diagnosis[] {
  const failing = conditionsOf(object).filter(
    ({ type, status }) => (wanted.has(type) && status === 'False') || (unwanted.has(type) && status === 'True'),
  )
  return failing.map((condition) => ({
    reason: condition.reason || condition.type,
    what: `its condition ${condition.type} is ${condition.status}`,
    because: saidBy(condition) || 'the condition does not say why',
    remedy: 'its controller has set the condition: do what it asks for, or read its logs',
  }))
}
