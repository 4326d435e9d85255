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

/** The pod that `POD` or `TYPE/NAME` means: of an object that has several, the one with most to say. */
export async function findPod(session: Session, target: string): Promise<FoundPod> {
  const { client, namespace } = session
  const [type = '', name = ''] = target.includes('/') ? target.split('/', 2) : ['pods', target]
  if (name === '') throw new CliError(`"${target}" names no object: write POD or TYPE/NAME`)
  const resource = type === 'pods' ? pods : (await session.catalog()).find(type)
  if (resource.kind === 'Pod') {
    const pod = await client.get<Pod>(pods, { name, namespace })
    return { pod, owner: pod }
  }
  return podOf(session, await client.get<KubernetesObject>(resource, { name, namespace }))
}

/** The pod that an object means. Throws a CliError where it selects none. */
export async function podOf({ client, namespace: own }: Session, owner: KubernetesObject): Promise<FoundPod> {
  if (owner.kind === 'Pod') return { pod: owner as Pod, owner }
  const { name = '', namespace = own } = owner.metadata
  const labelSelector = selectorText(owner)
  if (labelSelector === undefined) throw new CliError(`cannot attach to *${owner.kind} ${name}: it has no pods`)
  const { items } = await client.list<Pod>(pods, { namespace, labelSelector })
  const pod = choosePod(items)
  if (pod === undefined) throw new CliError(`${owner.kind.toLowerCase()} ${name} has no pods yet`)
  return { pod, owner }
}
