import type { PlaceFlags } from '../local/cluster-place.ts'
import type { ManifestFlags } from '../manifests/load-manifests.ts'
import type { AuthenticationFlags } from './authentication-flags.ts'
import type { ContainerRuntimeFlags } from './container-runtime-flags.ts'
import type { EtcdFlags } from './etcd-flags.ts'
import type { ImagesFlags } from './images-flag.ts'
import type { InFlightFlags } from './in-flight-flags.ts'
import type { LeaderElectionFlags } from './leader-election-flags.ts'
import type { RuntimeConfigFlags } from './runtime-config-flag.ts'
import type { ServiceRangeFlags } from './service-range-flag.ts'

/** The flags of `coracle up`. */
export interface UpFlags
  extends ManifestFlags,
    AuthenticationFlags,
    ContainerRuntimeFlags,
    EtcdFlags,
    ImagesFlags,
    InFlightFlags,
    LeaderElectionFlags,
    PlaceFlags,
    RuntimeConfigFlags,
    ServiceRangeFlags {
  readonly memory?: boolean
  /** Which addresses services of type LoadBalancer get. */
  readonly loadBalancerAddresses?: 'nodes' | 'none'
  readonly listen: string
  /** Built-in admission plugins to use that are off by default. */
  readonly enableAdmissionPlugins?: readonly string[]
  /** Built-in admission plugins to do without. */
  readonly disableAdmissionPlugins?: readonly string[]
  /** As kube-apiserver's; the cluster checks them. */
  readonly authorizationMode?: readonly string[]
  /** As kube-controller-manager's; the cluster checks them. */
  readonly controllers?: readonly string[]
  readonly scheduler: boolean
  /** Chosen where none is given. */
  readonly port?: number
  /** One where none is given, and where the objects are imported those that came with them. */
  readonly nodes?: number
  /** How long simulated containers run that are there to end, in milliseconds; `Infinity`: until they are stopped. */
  readonly runTime?: number
  /** Patterns of images that simulated nodes cannot pull. */
  readonly missingImages?: readonly string[]
  /** In milliseconds. */
  readonly minimumContainerTtlDuration?: number
  readonly maximumDeadContainersPerContainer?: number
  readonly maximumDeadContainers?: number
  readonly namespace?: string
  readonly nodePrefix?: string
  readonly podManifestPath?: string
  readonly output?: 'json'
  /** Pods run on when the server stops, and its next start takes them up. */
  readonly keepPods?: boolean
  /** Return when the server is ready, which goes on by itself. */
  readonly detach?: boolean
}
