import { compareRevisions, type Deployment, deployments, parseRevision, type ReplicaSet } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { ownAnnotations, rollbackAnnotation } from './annotations.ts'
import { hasTemplate, revisionOf, withoutHash } from './replica-sets.ts'

/** The revision a deployment is to go back to, 0 for the one before; undefined where none is asked for. */
export function rollbackRevision({ metadata }: Deployment): bigint | undefined {
  const text = metadata.annotations?.[rollbackAnnotation]
  return text === undefined ? undefined : parseRevision(text)
}

/** Gives the deployment the template and the annotations of the revision that is asked for, and takes the request away. */
export function planRollback(deployment: Deployment, sets: readonly ReplicaSet[]): readonly Action[] {
  const asked = rollbackRevision(deployment) ?? 0n
  const revision = asked === 0n ? lastRevision(sets) : asked
  if (revision === 0n) {
    return [event('Warning', 'DeploymentRollbackRevisionNotFound', 'Unable to find last revision.'), ended(deployment)]
  }
  const set = sets.find((each) => revisionOf(each) === revision)
  if (set?.spec.template === undefined) {
    const message = 'Unable to find the revision to rollback to.'
    return [event('Warning', 'DeploymentRollbackRevisionNotFound', message), ended(deployment)]
  }
  const { name } = deployment.metadata
  if (hasTemplate(set.spec.template, deployment.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`
    return [event('Warning', 'DeploymentRollbackTemplateUnchanged', message), ended(deployment)]
  }
  const template = withoutHash(set.spec.template)
  const restored: Deployment = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: restoredAnnotations(deployment, set) },
    spec: { ...deployment.spec, template },
  }
  const message = `Rolled back deployment "${name}" to revision ${revision}`
  return [ended(restored), event('Normal', 'DeploymentRollback', message)]
}

/** The second highest revision, 0 where there is none. */
function lastRevision(sets: readonly ReplicaSet[]): bigint {
  const revisions = sets.map((set) => revisionOf(set) ?? 0n).sort(compareRevisions)
  return revisions.at(-2) ?? 0n
}

/** The deployment's own annotations, and what others the ReplicaSet has. */
function restoredAnnotations({ metadata }: Deployment, set: ReplicaSet): Readonly<Record<string, string>> {
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => ownAnnotations.has(key))
  const copied = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key))
  return Object.fromEntries([...own, ...copied])
}

function ended(deployment: Deployment): Action {
  const { [rollbackAnnotation]: _asked, ...annotations } = deployment.metadata.annotations ?? {}
  const object = { ...deployment, metadata: { ...deployment.metadata, annotations } }
  return { type: 'update', resource: deployments, object, because: 'a rollback was asked for' }
}

function event(eventType: 'Normal' | 'Warning', reason: string, message: string): Action {
  return { type: 'event', eventType, reason, message, because: message }
}
