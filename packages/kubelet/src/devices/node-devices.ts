import type { Container, Pod } from '@coracle/api'
import type { DeviceAccess, EnvironmentVariable, Mount } from '../runtimes/runtime.ts'

/** How many devices of a resource a node has, and how many of these are healthy. */
export interface DeviceCount {
  readonly capacity: number
  readonly allocatable: number
}

/** What a container is given for its devices. */
export interface ContainerDevices extends DeviceAccess {
  readonly env: readonly EnvironmentVariable[]
  readonly mounts: readonly Mount[]
}

/** The devices of a node, which programs on it offer by the device plugin API. */
export interface NodeDevices {
  /** What the node has, by the names of the resources. Those whose plugin has gone for good are counted as none. */
  counts(): ReadonlyMap<string, DeviceCount>
  /** Gives the containers of a pod the devices that they ask for. Rejects with what upstream's kubelet says where that cannot be done; then the pod has none. */
  allocate(pod: Pod): Promise<void>
  /** What a container that is about to start is given; its plugins have prepared the devices. Undefined where it has none. */
  prepareStart(pod: Pod, container: Container): Promise<ContainerDevices | undefined>
  /** The pod has no devices any more. */
  release(podUid: string): void
  /** Plugins can register no more. What pods have is kept for the next agent. */
  stop(): Promise<void>
}
