import type { WorkloadKind, WorkloadShape } from './workloads.ts'

/**
 * Something that happens to a cluster, as data: it can be printed, left out, and done again. Times are milliseconds of the
 * virtual clock since the start. `pick` in [0, 1) chooses one of what there is then.
 */
export type Operation = { readonly atMs: number } & (
  | { readonly type: 'create'; readonly shape: WorkloadShape }
  | { readonly type: 'scale'; readonly kind: WorkloadKind; readonly name: string; readonly replicas: number }
  | { readonly type: 'set-image'; readonly kind: WorkloadKind; readonly name: string; readonly image: string }
  | { readonly type: 'pause'; readonly name: string; readonly paused: boolean }
  | {
      readonly type: 'delete'
      readonly kind: WorkloadKind
      readonly name: string
      readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan'
    }
  | { readonly type: 'delete-pod'; readonly pick: number; readonly gracePeriodSeconds?: number }
  | { readonly type: 'relabel-pod'; readonly pick: number }
  | { readonly type: 'evict-pod'; readonly pick: number }
  | { readonly type: 'touch'; readonly kind: WorkloadKind; readonly name: string }
  | { readonly type: 'cordon'; readonly pick: number; readonly isCordoned: boolean }
  /** A component crashes, and comes back after a while. */
  | { readonly type: 'crash'; readonly component: CrashingComponent; readonly forMs: number }
  /** A node's agent crashes, and comes back after a while. */
  | { readonly type: 'crash-node'; readonly node: number; readonly forMs: number }
  /** Requests and answers get lost, and watches end, with this probability, for a while. */
  | { readonly type: 'bad-network'; readonly probability: number; readonly forMs: number }
)

export type CrashingComponent = 'apiserver' | 'kube-controller-manager' | 'kube-scheduler'

/** Whether an operation is a fault, and not something users do. */
export const isFault = ({ type }: Operation): boolean => type.startsWith('crash') || type === 'bad-network'

/** One line for people: `12.5 s scale Deployment/web to 3`. */
export function describeOperation(operation: Operation): string {
  const { atMs, type, ...details } = operation
  const text = Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')
  return `${(atMs / 1000).toFixed(1).padStart(7)} s  ${type} ${text}`
}
