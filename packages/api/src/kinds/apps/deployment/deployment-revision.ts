import { int64Of } from '../../../go-text.ts'
import type { ObjectMeta } from '../../../meta.ts'

/** Counts the rollouts of a deployment: on a ReplicaSet its own, on the deployment that of its present template. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision'

/**
 * The revision that a Deployment or a ReplicaSet stands for: 0 where it says none, undefined where it says something that is no
 * 64-bit integer. Clients may set any such number, so it is no `number`, which would be another one from 2^53.
 */
export function deploymentRevision({ annotations }: Pick<ObjectMeta, 'annotations'>): bigint | undefined {
  const text = annotations?.[revisionAnnotation]
  return text === undefined ? 0n : parseRevision(text)
}

/** The number of a revision; undefined for what is no 64-bit integer. */
export const parseRevision = (text: string): bigint | undefined => int64Of(text)

/** Orders revisions: negative where `a` comes first. */
export function compareRevisions(a: bigint, b: bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
