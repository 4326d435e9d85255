import type { Draft } from './draft.ts'

/** The ReplicaSets of a deployment as they are to become. */
export interface Rollout {
  /** That of the present template; undefined while there is none. */
  readonly newSet: Draft | undefined
  /** All others, the oldest first. */
  readonly oldSets: readonly Draft[]
}

/** All of them, the new one first. */
export function allSets({ newSet, oldSets }: Rollout): readonly Draft[] {
  return newSet === undefined ? oldSets : [newSet, ...oldSets]
}

/** How many replicas they ask for together. */
export function totalReplicas(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { replicas }) => sum + replicas, 0)
}

/** The rollout with some of its ReplicaSets changed. */
export function withDrafts(rollout: Rollout, change: (draft: Draft) => Draft): Rollout {
  const { newSet, oldSets } = rollout
  return { newSet: newSet === undefined ? undefined : change(newSet), oldSets: oldSets.map(change) }
}
