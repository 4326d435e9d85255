import { type Deployment, deployments, type ReplicaSet } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { ownAnnotations, rollbackAnnotation } from './annotations.ts'
import { hasTemplate, revisionOf, withoutHash } from './replica-sets.ts'

/** The revision a deployment is to go back to, 0 for the one before; undefined where none is asked for. */
export function rollbackRevision({ metadata }: Deployment): number | undefined {
  const text = metadata.annotations?.[rollbackAnnotation]
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined
}

/** Gives the deployment the template and the annotations of the revision that is asked for, and takes the request away. */
export function planRollback(deployment: Deployment, sets: readonly ReplicaSet[]): readonly Action[] {
  const asked = rollbackRevision(deployment) ?? 0
  const revision = asked === 0 ? lastRevision(sets) : asked
  if (revision === 0) {
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
function lastRevision(sets: readonly ReplicaSet[]): number {
  const revisions = sets.map((set) => revisionOf(set) ?? 0).sort((a, b) => b - a)
  return revisions[1] ?? 0
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
