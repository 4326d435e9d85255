import type { StatefulSet } from '@coracle/api'
import type { Belongings } from '../revisions/belongings.ts'
import type { ClaimLookup } from './claims.ts'

/** A stateful set, and what belongs to it. */
export interface ObservedStatefulSet extends Belongings {
  readonly set: StatefulSet
  readonly claim: ClaimLookup
}
