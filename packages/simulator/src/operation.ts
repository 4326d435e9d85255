import type { KubernetesObject } from '@coracle/api'
import type { Fields, FieldValue } from './applying/fields.ts'
import type { Kind } from './kinds.ts'

/** Names an object. The namespace is absent for kinds that have none. */
export interface Target {
  readonly kind: Kind
  readonly namespace?: string
  readonly name: string
}

/** An owner that a new object is to have, where it is there. */
export interface Owner extends Target {
  readonly blockOwnerDeletion: boolean
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

/** What goes over a way to the server, and is lost or held up while a partition lasts. */
export type Direction = 'requests' | 'answers' | 'both'

/** The parts of a server that crash alone. */
export type CrashingComponent = 'apiserver' | 'kube-controller-manager' | 'kube-scheduler'

/**
 * Something that happens to a cluster, as data: it can be printed, left out, and done again. Times are milliseconds of the
 * virtual clock since the start. `pick` in [0, 1) chooses one of what there is then.
 */
export type Operation = { readonly atMs: number } & (Request | Fault)

/** What users and administrators do. */
export type Request =
  | { readonly type: 'create'; readonly object: KubernetesObject; readonly owners?: readonly Owner[] }
  | { readonly type: 'delete'; readonly target: Target; readonly propagationPolicy: PropagationPolicy }
  /** A merge patch of the spec. */
  | { readonly type: 'change'; readonly target: Target; readonly spec: Readonly<Record<string, unknown>> }
  /** Through the scale subresource, as `kubectl scale` and autoscalers do. */
  | { readonly type: 'scale'; readonly target: Target; readonly replicas: number }
  | { readonly type: 'set-image'; readonly target: Target; readonly image: string }
  /** Back to the template of the revision before, as `kubectl rollout undo`. */
  | { readonly type: 'undo'; readonly target: Target }
  | { readonly type: 'touch'; readonly target: Target }
  /** Server-side apply by a field manager. */
  | {
      readonly type: 'apply'
      readonly target: Target
      readonly manager: string
      readonly fields: Fields
      readonly isForced: boolean
    }
  /** A patch by a field manager. Fields of null go. */
  | {
      readonly type: 'write-fields'
      readonly target: Target
      readonly manager: string
      readonly fields: Readonly<Record<string, FieldValue | null>>
    }
  /** From now on each pod of a workload that there is uses so much memory. */
  | { readonly type: 'load'; readonly target: Target; readonly mebibytes: number }
  /** Makes another the owner of an object that is there. */
  | { readonly type: 'own'; readonly target: Target; readonly owner: Owner }
  /** Takes the finalizers off an object. */
  | { readonly type: 'release'; readonly target: Target }
  | { readonly type: 'delete-pod'; readonly pick: number; readonly gracePeriodSeconds?: number }
  | { readonly type: 'relabel-pod'; readonly pick: number }
  | { readonly type: 'evict-pod'; readonly pick: number }
  /** A label of null goes. */
  | { readonly type: 'label-node'; readonly pick: number; readonly label: string; readonly value: string | null }
  /** Gives a node a pod of this image in a file; absent: takes it away. */
  | { readonly type: 'manifest'; readonly node: number; readonly name: string; readonly image?: string }
  | { readonly type: 'cordon'; readonly pick: number; readonly isCordoned: boolean }
  /** Cordons a node and evicts its pods, as `kubectl drain` does once. */
  | { readonly type: 'drain'; readonly pick: number }
  | { readonly type: 'taint'; readonly pick: number; readonly effect: 'NoSchedule' | 'NoExecute' | undefined }

/** What goes wrong. */
export type Fault =
  /** A component crashes, and comes back after a while. */
  | { readonly type: 'crash'; readonly server: number; readonly component: CrashingComponent; readonly forMs: number }
  /** A node's agent crashes, and comes back after a while. */
  | { readonly type: 'crash-node'; readonly node: number; readonly forMs: number }
  /** The API server crashes in the middle of the write that is so many writes away, which takes effect or not. */
  | {
      readonly type: 'crash-at-write'
      readonly server: number
      readonly writes: number
      readonly takesEffect: boolean
      readonly forMs: number
    }
  /** A node goes down and is taken out of the API, and comes back after a while. */
  | { readonly type: 'remove-node'; readonly node: number; readonly forMs: number }
  /** Controllers or scheduler end in order and start again: with several servers another leads. */
  | { readonly type: 'hand-over'; readonly server: number; readonly component: CrashingComponent }
  /** Requests and answers get lost, and watches end, with this probability, for a while. */
  | { readonly type: 'bad-network'; readonly probability: number; readonly forMs: number }
  /** What a component sends, or what is sent to it, does not arrive. */
  | {
      readonly type: 'partition'
      readonly server: number
      readonly component: string
      readonly direction: Direction
      readonly forMs: number
    }
  /** A component learns of each change so much later. */
  | {
      readonly type: 'lag'
      readonly server: number
      readonly component: string
      readonly delayMs: number
      readonly forMs: number
    }
  /** A server does not reach the store that it shares with another. */
  | { readonly type: 'cut-store'; readonly server: number; readonly forMs: number }
  /** A server learns late of what another writes. */
  | { readonly type: 'lag-store'; readonly server: number; readonly forMs: number }

const faultTypes: ReadonlySet<string> = new Set<Fault['type']>([
  'crash',
  'crash-node',
  'remove-node',
  'crash-at-write',
  'hand-over',
  'bad-network',
  'partition',
  'lag',
  'cut-store',
  'lag-store',
])

/** Whether an operation is a fault, and not something users do. */
export const isFault = ({ type }: Pick<Operation, 'type'>): boolean => faultTypes.has(type)

/** One line for people: `12.5 s scale target=Deployment/default/web replicas=3`. */
export function describeOperation(operation: Operation): string {
  const { atMs, type, ...details } = operation
  const text = Object.entries(details)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${name === 'target' ? nameOf(value as Target) : textOf(value)}`)
    .join(' ')
  return `${(atMs / 1000).toFixed(1).padStart(7)} s  ${type} ${text}`
}

/** `Deployment/default/web`. */
export const nameOf = ({ kind, namespace, name }: Target): string =>
  [kind, ...(namespace === undefined ? [] : [namespace]), name].join('/')

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))
