import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import type { Session } from '../session.ts'
import { awaitAny } from './await-any.ts'
import { choosePod } from './choose-container.ts'
import { getNamed } from './fetch.ts'
import { parsePair } from './resource-arguments.ts'
import { selectorText } from './selector-text.ts'

/** A pod, and the object that was named for it: the pod itself, or one that selects pods. */
export interface FoundPod {
  readonly pod: Pod
  readonly owner: KubernetesObject
}

/** What `POD` or `TYPE/NAME` names. */
export interface NamedObject {
  readonly owner: KubernetesObject
  /** The pod itself, or those that the object selects; undefined where its kind selects none. */
  readonly pods: readonly Pod[] | undefined
}

/** How long to wait for a pod of an object that has none yet. */
export interface PodWait {
  readonly podRunningTimeout: number
}

/**
 * The object that a name or `TYPE/NAME` names, and the pods it means: those that are there, or the first that comes in time. A name alone
 * is that of a pod, or of an object of `typeOfNames`.
 */
export async function findNamed(
  host: Host,
  session: Session,
  target: string,
  patience: PodWait,
  typeOfNames = 'pods',
): Promise<NamedObject> {
  const { client, namespace } = session
  const { type, name } = target.includes('/') ? parsePair(target) : { type: typeOfNames, name: target }
  const resource = type === 'pods' ? pods : (await session.catalog()).find(type)
  if (resource.kind === 'Pod') {
    const pod = (await getNamed(client, pods, { name, namespace }, undefined)) as Pod
    return { owner: pod, pods: [pod] }
  }
  const owner = await getNamed(client, resource, { name, namespace }, undefined)
  return { owner, pods: await selectedBy(host, session, owner, patience) }
}

/** The pod that is meant so: of an object that has several, the one with most to say. */
export async function findPod(
  host: Host,
  session: Session,
  target: string,
  patience: PodWait,
  typeOfNames?: string,
): Promise<FoundPod> {
  const named = await findNamed(host, session, target, patience, typeOfNames)
  return chosen(named.owner, named.pods)
}

/** The pod that an object means. Rejects with a CliError where it selects none. */
export async function podOf(
  host: Host,
  session: Session,
  owner: KubernetesObject,
  patience: PodWait,
): Promise<FoundPod> {
  return chosen(owner, owner.kind === 'Pod' ? [owner as Pod] : await selectedBy(host, session, owner, patience))
}

/** Pods of an object. Rejects with a CliError where none has come in time. */
async function selectedBy(
  host: Host,
  { client, namespace: own }: Session,
  owner: KubernetesObject,
  { podRunningTimeout }: PodWait,
): Promise<readonly Pod[] | undefined> {
  const labelSelector = selectorText(owner)
  if (labelSelector === undefined) return undefined
  const selection = { namespace: owner.metadata.namespace ?? own, labelSelector }
  const found = await awaitAny<Pod>(host, client, pods, selection, podRunningTimeout)
  if (found.length === 0) throw new CliError('timed out waiting for the condition')
  return found
}

function chosen(owner: KubernetesObject, candidates: readonly Pod[] = []): FoundPod {
  const pod = choosePod(candidates)
  if (pod === undefined) throw new CliError(`cannot attach to ${typeText(owner)}: ${whyNoPods(owner)}`)
  return { pod, owner }
}

/** The type of an object in kubectl's words, which are those of Go: `*v1.ConfigMap`. */
export function typeText({ apiVersion, kind }: KubernetesObject): string {
  return `*${apiVersion.split('/').at(-1)}.${kind}`
}

/** Why an object selects no pods. */
export function whyNoPods(object: KubernetesObject): string {
  return object.kind === 'Service'
    ? `invalid service '${object.metadata.name}': Service is defined without a selector`
    : `selector for ${typeText(object)} not implemented`
}
