import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Session } from '../session.ts'
import { choosePod } from './choose-container.ts'
import { selectorText } from './selector-text.ts'

/** A pod, and the object that was named for it: the pod itself, or one that selects pods. */
export interface FoundPod {
  readonly pod: Pod
  readonly owner: KubernetesObject
}

/** What `POD` or `TYPE/NAME` names. */
export interface NamedObject {
  readonly owner: KubernetesObject
  /** `pods/web-0`, `deployments/web` */
  readonly label: string
  /** The pod itself, or those that the object selects; undefined where its kind selects none. */
  readonly pods: readonly Pod[] | undefined
}

/** The object that `POD` or `TYPE/NAME` names, and the pods it means. */
export async function findNamed(session: Session, target: string): Promise<NamedObject> {
  const { client, namespace } = session
  const [type = '', name = ''] = target.includes('/') ? target.split('/', 2) : ['pods', target]
  if (name === '') throw new CliError(`"${target}" names no object: write POD or TYPE/NAME`)
  const resource = type === 'pods' ? pods : (await session.catalog()).find(type)
  const label = `${resource.plural}/${name}`
  if (resource.kind === 'Pod') {
    const pod = await client.get<Pod>(pods, { name, namespace })
    return { owner: pod, label, pods: [pod] }
  }
  const owner = await client.get<KubernetesObject>(resource, { name, namespace })
  return { owner, label, pods: await selectedBy(session, owner) }
}

/** The pod that `POD` or `TYPE/NAME` means: of an object that has several, the one with most to say. */
export async function findPod(session: Session, target: string): Promise<FoundPod> {
  const named = await findNamed(session, target)
  return chosen(named.owner, named.pods)
}

/** The pod that an object means. Throws a CliError where it selects none. */
export async function podOf(session: Session, owner: KubernetesObject): Promise<FoundPod> {
  return chosen(owner, owner.kind === 'Pod' ? [owner as Pod] : await selectedBy(session, owner))
}

async function selectedBy(
  { client, namespace: own }: Session,
  owner: KubernetesObject,
): Promise<readonly Pod[] | undefined> {
  const labelSelector = selectorText(owner)
  if (labelSelector === undefined) return undefined
  const { items } = await client.list<Pod>(pods, { namespace: owner.metadata.namespace ?? own, labelSelector })
  return items
}

function chosen(owner: KubernetesObject, candidates: readonly Pod[] | undefined): FoundPod {
  const { name = '' } = owner.metadata
  if (candidates === undefined) throw new CliError(`cannot attach to *${owner.kind} ${name}: it has no pods`)
  const pod = choosePod(candidates)
  if (pod === undefined) throw new CliError(`${owner.kind.toLowerCase()} ${name} has no pods yet`)
  return { pod, owner }
}
