import type { Container, Pod, ResourceClaim } from '@coracle/api'

/** The devices that pods of a node have by claims, which drivers on the node prepare (dynamic resource allocation). */
export interface ClaimedDevices {
  /** Has the drivers of these claims prepare what the pod has of them. Rejects with what upstream's kubelet says where that cannot be done now: it is asked again. */
  prepare(pod: Pod, claims: readonly ResourceClaim[]): Promise<void>
  /** Names of the Container Device Interface of what a container has, for its runtime. */
  cdiNames(pod: Pod, container: Container): Promise<readonly string[]>
  /** Has drivers take back what the pod had, if nobody else has it. Rejects where that cannot be done now: it is asked again. */
  unprepare(podUid: string): Promise<void>
  /** The pods that have devices, or may have. */
  podUids(): Promise<readonly string[]>
}
