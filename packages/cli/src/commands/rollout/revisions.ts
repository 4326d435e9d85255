import {
  type ControllerRevision,
  compareRevisions,
  controllerRevisions,
  deepEqual,
  deploymentRevision,
  type KubernetesObject,
  type PodTemplateSpec,
  type ReplicaSet,
  type Resource,
  replicaSets,
} from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { controlledBy } from '../../describe/controlled-by.ts'
import { listAll } from '../../resources/fetch.ts'
import { selectorText } from '../../resources/selector-text.ts'
import type { Session } from '../../session.ts'
import type { Target } from '../targets.ts'

/** A state of the template that an object had, or has. */
export interface Revision {
  readonly number: bigint
  readonly template: PodTemplateSpec
  /** Annotations of what keeps the revision. */
  readonly annotations: Readonly<Record<string, string>>
  /** What keeps it: a ReplicaSet, or a ControllerRevision. */
  readonly keeper: KubernetesObject
}

/** The label that tells the pods of one ReplicaSet of a Deployment from those of another. */
const hashLabel = 'pod-template-hash'

/** The revisions that are kept of an object, oldest first. Rejects with a CliError, which names the purpose, for kinds that have none. */
export async function revisionsOf(session: Session, target: Target, purpose: string): Promise<readonly Revision[]> {
  const { resource } = target
  if (resource.group === 'apps' && resource.kind === 'Deployment') return deploymentRevisions(session, target)
  if (resource.group === 'apps' && ['DaemonSet', 'StatefulSet'].includes(resource.kind)) {
    return controllerRevisionsOf(session, target)
  }
  const { group, kind } = resource
  if (visitedKinds.has(groupKindText(target))) {
    const what = purpose === 'history' ? 'history viewer' : purpose
    throw new CliError(`no ${what} has been implemented for ${JSON.stringify(groupKindText(target))}`)
  }
  throw new CliError(
    `error retrieving ${purpose} for ${JSON.stringify(groupKindText(target))}, no visitor method exists for {${group} ${kind}}`,
  )
}

/** Kinds that kubectl knows to have no revisions; of others it says something else. */
const visitedKinds = new Set(['CronJob.batch', 'Job.batch', 'Pod', 'ReplicaSet.apps', 'ReplicationController'])

/** `Deployment.apps`, and `Pod` in the core group */
export const groupKindText = ({ resource: { group, kind } }: Target): string =>
  group === '' ? kind : `${kind}.${group}`

async function deploymentRevisions(session: Session, { object }: Target): Promise<readonly Revision[]> {
  const sets = (await listSelected(session, object, replicaSets)) as readonly ReplicaSet[]
  const kept = controlledBy(object, sets).flatMap((keeper) => {
    const { annotations = {} } = keeper.metadata
    // One that was adopted has none, which counts as zero.
    const number = deploymentRevision(keeper.metadata)
    const { template } = keeper.spec
    return number !== undefined && template !== undefined ? [{ number, template, annotations, keeper }] : []
  })
  return kept.sort((a, b) => compareRevisions(a.number, b.number))
}

async function controllerRevisionsOf(session: Session, { object }: Target): Promise<readonly Revision[]> {
  const revisions = (await listSelected(session, object, controllerRevisions)) as readonly ControllerRevision[]
  const kept = controlledBy(object, revisions).flatMap((keeper) => {
    const template = (keeper.data as KeptTemplate | undefined)?.spec?.template
    const { annotations = {} } = keeper.metadata
    return template === undefined
      ? []
      : [{ number: BigInt(keeper.revision), template: plain(template), annotations, keeper }]
  })
  return kept.sort((a, b) => compareRevisions(a.number, b.number))
}

/** What a ControllerRevision keeps: a patch that replaces the template. */
interface KeptTemplate {
  readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } }
}

function plain({ $patch: _, ...template }: PodTemplateSpec & { readonly $patch?: string }): PodTemplateSpec {
  return template
}

function listSelected(
  { client }: Session,
  object: KubernetesObject,
  resource: Resource,
): Promise<readonly KubernetesObject[]> {
  const { namespace = '' } = object.metadata
  return listAll(client, resource, { namespace, labelSelector: selectorText(object) ?? '' })
}

/** Whether two templates are the same but for the label that their ReplicaSet has added. */
export function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return deepEqual(withoutHash(a), withoutHash(b))
}

/** The template as its Deployment had it. */
export function withoutHash(template: PodTemplateSpec): PodTemplateSpec {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

/**
 * The revision of that number; 0: the one before the last. Throws a CliError where it is not kept, `none` where there is
 * no other to go back to.
 */
export function findRevision(revisions: readonly Revision[], number: number, none: string): Revision {
  const found = number === 0 ? revisions.at(-2) : revisions.find((each) => each.number === BigInt(number))
  if (found !== undefined) return found
  throw new CliError(number === 0 ? none : `unable to find specified revision ${number} in history`)
}
