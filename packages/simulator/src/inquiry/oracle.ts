import {
  type KubernetesObject,
  type Labels,
  type Node,
  type Pod,
  type ReplicaSet,
  selectorFromLabelSelector,
} from '@coracle/api'
import type { Finding } from '@coracle/why'
import type { View } from '../view.ts'
import type { WriteLog } from './write-log.ts'

/** How things are, as they are stored. */
export interface World {
  readonly view: View
  readonly log: WriteLog
}

/** Says what is false in a finding about an object; undefined where it is true. It knows the objects, and nothing of how findings are made. */
export type Oracle = (finding: Finding, object: KubernetesObject, world: World) => string | undefined

export const unless = (holds: boolean, problem: string): string | undefined => (holds ? undefined : problem)

export const isGoing = ({ metadata }: KubernetesObject): boolean => metadata.deletionTimestamp !== undefined

interface Conditioned {
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
  }
}

export const conditionOf = (object: KubernetesObject, type: string) =>
  (object as Conditioned).status?.conditions?.find((condition) => condition.type === type)

/** True where the condition is as given, and its words are told. */
export const says =
  (type: string, status: string, reason?: string): Oracle =>
  ({ because }, object) => {
    const condition = conditionOf(object, type)
    if (condition?.status !== status) return `condition ${type} is ${condition?.status ?? 'not there'}`
    if (reason !== undefined && condition.reason !== reason)
      return `condition ${type} has the reason ${condition.reason}`
    const words = condition.message || condition.reason || ''
    return because.includes(words) ? undefined : `condition ${type} says: ${words}`
  }

/** An event about the object says what is told. */
export const eventSays: Oracle = ({ because }, { metadata }, { log }) =>
  unless(
    log.eventsAbout(metadata.uid ?? '').some(({ message }) => message === because),
    'no event says so',
  )

/**
 * The pods of a workload: those that it controls and selects. One whose labels were changed belongs to it still until its controller
 * lets it go, and counts no more.
 */
export function podsOf(workload: KubernetesObject, view: View): readonly Pod[] {
  const { selector } = (workload as ReplicaSet).spec
  const isMap = workload.kind === 'ReplicationController'
  const matcher = selectorFromLabelSelector(isMap ? { matchLabels: selector as Labels } : selector)
  return view.podsOf(workload.metadata.uid ?? '').filter(({ metadata }) => matcher.matches(metadata.labels ?? {}))
}

/** The taints of a node as people write them: `gpu=yes:NoSchedule`. */
export const taintsOf = (node: Node | undefined): readonly string[] =>
  (node?.spec?.taints ?? []).map(({ key, value = '', effect }) => `${key}${value && `=${value}`}:${effect}`)

export const nodeNamed = ({ view }: World, name = ''): Node | undefined =>
  view.find('Node', undefined, name) as Node | undefined

export const podNamed = ({ view }: World, namespace: string | undefined, name = ''): Pod | undefined =>
  view.find('Pod', namespace, name) as Pod | undefined
