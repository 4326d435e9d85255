import type { Pod } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, TurnLimiter } from '@coracle/environment'
import type { NodeAdmission } from '../admission/node-admission.ts'
import type { ClaimedDevices } from '../devices/claimed-devices.ts'
import type { NodeDevices } from '../devices/node-devices.ts'
import type { EnvironmentSources } from '../env/environment-variables.ts'
import type { HostsFiles } from '../hosts/hosts-files.ts'
import type { IsolatingNode } from '../isolation/sandbox-isolation.ts'
import type { AgentMetricsSource } from '../metrics/agent-metrics.ts'
import type { NodeRecorder } from '../node/node-events.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { MountedVolumes } from '../volumes/claimed-volumes.ts'
import type { DeadContainerLimits } from './dead-containers.ts'

/** What all pods of a node share. */
export interface PodContext {
  readonly client: Client
  readonly environment: Environment
  readonly runtime: Runtime
  readonly sources: EnvironmentSources
  /** What the passes of all pods take turns by. */
  readonly turns: TurnLimiter
  /** Absent: events are not recorded. */
  readonly recorder?: NodeRecorder
  readonly nodeName: string
  /** Address of the node, as pods see it. */
  readonly nodeAddress: string
  /** Brings the volumes of a pod to the node, or those that are `present` up to date; rejects with a `VolumesNotReadyError` where that cannot be done yet. */
  readonly mountVolumes: (pod: Pod, present?: MountedVolumes) => Promise<MountedVolumes>
  /** Removes what was made for the volumes of a pod. Absent where nothing is. */
  readonly unmountVolumes?: (podUid: string) => Promise<void>
  /** Takes away the volumes of a pod that has ended which are of drivers or in memory, and keeps the others. Absent where there are none. */
  readonly releaseVolumes?: (podUid: string) => Promise<void>
  /** Gives a container its pod's hosts file, where it can have one. Rejects where the signal is aborted. Absent: it never can. */
  readonly withHosts?: HostsFiles['withHosts']
  /** Which pods the node has taken on. */
  readonly admission: NodeAdmission
  /** Which containers that have ended are kept. Absent: upstream's. */
  readonly deadContainers?: DeadContainerLimits
  /** Absent: the runtime does not isolate pods from each other, or from the node. */
  readonly isolation?: IsolatingNode
  /** Asked for each start of a container. Absent, or undefined: nothing on the node offers devices. */
  readonly devices?: () => NodeDevices | undefined
  /** Devices that pods have by claims. Absent: no driver prepares any. */
  readonly claimedDevices?: ClaimedDevices
  /** What the agent counts of its own work. Absent: nothing. */
  readonly metrics?: AgentMetricsSource
  /** What the node offers pods. */
  readonly allocatable: Readonly<Record<string, string>>
}
