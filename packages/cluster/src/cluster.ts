import type { CausesPage, CausesQuery, OnUnexplained, TokenIdentity } from '@coracle/apiserver'
import type { SigningAlgorithm } from '@coracle/apiserver/trusted-issuers'
import type { Client, DiscoveredResource } from '@coracle/client'
import type { ScaledLoad } from '@coracle/controllers'
import type { Environment } from '@coracle/environment'
import type {
  DeadContainerLimits,
  EvictionDetails,
  EvictionThresholds,
  HostImages,
  ImageLimits,
} from '@coracle/kubelet'
import type { SimulatedBehaviour } from '@coracle/kubelet/simulated'
import type { EtcdStoreOptions, Store } from '@coracle/store'
import type { LeaderElectionTimes } from './leadership.ts'

export interface ClusterOptions {
  /** What the kubeconfig calls the cluster, its context and (with `-admin`) its user; `coracle` by default. */
  readonly name?: string
  /** The world it runs in: `virtualEnvironment()` gives a cluster whose clock is the caller's. The host's by default, logging errors alone. */
  readonly environment?: Environment
  /**
   * Where state lives: on disk where there is a `dataDir`, otherwise in memory, unless said. A `Store` given stays the
   * caller's; one that a function makes is closed with the cluster. Clusters with an etcd in common, or a store that says it is shared, are servers of one cluster: one of them at a
   * time runs the controllers, and one the scheduler.
   */
  readonly store?: 'memory' | 'disk' | { readonly etcd: Omit<EtcdStoreOptions, 'environment'> } | Store | StoreFactory
  /** How soon another server takes over from one that is gone, where a store is shared. */
  readonly leaderElection?: LeaderElectionTimes
  /**
   * Directory for everything that is kept: `kubeconfig`, `token`, `pki/`, `store/`, `kubelet/`. Made where it is missing,
   * for its owner alone. Without it nothing outlives the cluster.
   */
  readonly dataDir?: string
  /** How many nodes this process is; 1 by default, none beside `storedNodes`. */
  readonly nodes?: number
  /**
   * Simulates the nodes that the store has, such as one that a state was loaded into (`loadState`), under their names: those that
   * are alive stay as they are, and their pods run on. Nodes that are down stay down.
   */
  readonly storedNodes?: boolean
  /** What simulated containers do beside what their environment says: how soon they are ready, and whether they end. For nodes that share their agent. */
  readonly behaviour?: SimulatedBehaviour
  /** What autoscalers go by: the metrics there are, or that load is `steady` and whatever number of pods there is right; measured by default. */
  readonly load?: ScaledLoad
  /** What their names begin with; a number follows. `node-`, or the name of the host where the store is shared. */
  readonly nodePrefix?: string
  /**
   * What runs containers: `simulated` (the default; they exist in the API alone), `process` (processes of this host), or `cri`
   * and `docker` (`containerRuntime`, for the one node that this host is then).
   */
  readonly runtime?: 'process' | 'simulated' | 'cri' | 'docker'
  /** The container runtime of this host, such as containerd, where `runtime` is `cri` or `docker`. */
  readonly containerRuntime?: ContainerRuntimeOptions
  /** Programs of this host that images stand for on the process runtime; `parseHostImages` reads them. None by default. */
  readonly images?: HostImages
  /** A manifest of a pod that nodes run whatever the API says, or a directory of such, where containers are real. None by default. */
  readonly manifestPath?: string
  /** Which containers that have ended are kept where they are real, for their logs. Upstream's limits by default. */
  readonly deadContainers?: Partial<DeadContainerLimits>
  /**
   * Whether all simulated nodes have one agent between them, which costs least, or one each, so that a node can be stopped,
   * cut off and have a clock of its own. `shared` by default; nodes of processes always have their own.
   */
  readonly agents?: 'shared' | 'separate'
  /** Where the API is served over HTTPS. A free port of 127.0.0.1 by default, nowhere with a virtual clock or `false`. */
  readonly listen?: { readonly host?: string; readonly port?: number } | false
  /**
   * The range that services of a new cluster get addresses of. By default one that is this host where containers are its processes, so
   * that services are reached there, and 10.96.0.0/12 elsewhere. A cluster that has ranges keeps them.
   */
  readonly serviceCidr?: string
  /**
   * Which addresses services of type LoadBalancer get that name no other class: those of the `nodes` that are ready, or, as a cluster without a cloud, none.
   * `none` by default: such services are pending, or a controller's that is brought along.
   */
  readonly loadBalancerAddresses?: 'nodes' | 'none'
  /** Versions to serve that Kubernetes has ceased to, of `formerVersionNames`, such as `policy/v1beta1`. None by default. */
  readonly formerVersions?: readonly string[]
  /** Names of built-in admission plugins to use that are off by default, such as `PodNodeSelector`. */
  readonly enabledAdmission?: readonly string[]
  /**
   * Names of built-in admission plugins to do without, such as `ServiceAccount` where tests compare pods with what they sent.
   * Without some of them the cluster is not safe: this is for tests.
   */
  readonly disabledAdmission?: readonly string[]
  /**
   * What decides who may do what, each asked in turn until one allows: `Node`, `RBAC`, `AlwaysAllow`. The first two by default, as
   * kube-apiserver is usually run.
   */
  readonly authorizationModes?: readonly string[]
  /**
   * Which built-in controllers start, as kube-controller-manager's `--controllers`: `['*', '-statefulset-controller']` are all but one, `[]`
   * none. All by default. Those that do not can be started by `controller(name).start()`.
   */
  readonly builtinControllers?: readonly string[]
  /** Whether the scheduler starts: `false` leaves pods to another one, or to tests, until `components['kube-scheduler'].start()`. */
  readonly scheduler?: boolean
  /** How many requests are answered at a time, to be divided among the priority levels of flow control; 600 by default. */
  readonly requestsInFlightMax?: number
  /** Who may use the API by which bearer tokens, beside the administrator; `parseTokenFile` reads them from a file. None by default. */
  readonly tokens?: readonly TokenIdentity[]
  /** Authorities (PEM) whose client certificates are good beside the cluster's own: CN is the user, each O a group. */
  readonly clientCaPem?: string
  /**
   * The path of a file with an AuthenticationConfiguration (`apiserver.config.k8s.io/v1`): whose tokens of other issuers (OpenID Connect) are good, and
   * where requests need no credential. It is read again when it changes. Only where the API is served.
   */
  readonly authenticationConfig?: string
  /** Such a configuration as a text, where no file has it, and by which algorithms tokens may be signed: RS256 and so on. Those of upstream unless set. */
  readonly authentication?:
    | { readonly configuration: string; readonly signingAlgorithms?: readonly SigningAlgorithm[] }
    | undefined
  /** The flags of the command that runs the cluster, with their values: what `/flagz` shows. Without them there is no such path. */
  readonly flags?: Readonly<Record<string, string>>
  /**
   * The store has failed: what is acknowledged is safe, and nothing more will be. Or, with a `DataDirectoryLostError`, the
   * data directory was removed or replaced. The process should end.
   */
  readonly onFailure?: (error: Error) => void
  /** Told that the kubeconfig was written anew: the administrator's certificate is renewed in time, and the one before ends later. */
  readonly onKubeconfigRenewed?: () => void
  /** Told what a start is at, in words, for people who wait for it: `opening the store`. */
  readonly onStartProgress?: (stage: string) => void
  /** Told of every write by a component that does not say why: that is a defect of the component, for tests to find. */
  readonly onUnexplained?: OnUnexplained
  /** What stands between each component and the others. Nothing by default: for simulations, and tests of faults. */
  readonly seams?: ComponentSeams
}

/** A container runtime of this host: one that speaks the Container Runtime Interface, such as containerd or CRI-O, or Docker, or Podman. */
export interface ContainerRuntimeOptions {
  /** Its socket: `unix:///run/containerd/containerd.sock`. */
  readonly endpoint: string
  /** What is spoken there: the Container Runtime Interface (`cri`, the default), or the Docker Engine API. As `runtime` says. */
  readonly protocol?: 'cri' | 'docker'
  /** What sandboxes are made of, for `docker`. Absent: an image that is made on the spot. */
  readonly infraImage?: string
  /** Where containers' logs are; `/var/log/pods` by default. */
  readonly podLogsDirectory?: string
  /** Where drivers of volumes find the node, and volumes of pods are: upstream's `/var/lib/kubelet`. A directory of the node by default. */
  readonly rootDirectory?: string
  /** Which images go that are not in use. Upstream's limits by default. */
  readonly imageLimits?: Partial<ImageLimits>
  /** How little may be left of the node before pods are evicted. Upstream's thresholds by default. */
  readonly evictionThresholds?: EvictionThresholds
  /** Soft thresholds, and what else there is to say of evictions. As upstream has it by default. */
  readonly eviction?: Partial<EvictionDetails>
  /** Addresses of servers that know the names of the cluster's services. By default that of its Service `kube-system/kube-dns`. */
  readonly clusterDns?: readonly string[]
  /** The domain that these names are in; `cluster.local` by default. */
  readonly clusterDomain?: string
  /** The file that says how the host looks up names: what pods are given of it, and who is asked for names of others. `/etc/resolv.conf` by default. */
  readonly resolvConf?: string
}

/** Makes the store of a cluster, such as one that is made faulty. What it does outside the environment's clock must hold that. */
export type StoreFactory = (environment: Environment) => Store | Promise<Store>

/**
 * The edges of the components, by name: `apiserver`, `kube-controller-manager` (what its controllers watch through),
 * each controller's own name, `kube-scheduler`, and each node's name, or `nodes` for the agent that simulated nodes share.
 * They are asked each time a component starts. `@coracle/client/faults` has faulty ways ready.
 */
export interface ComponentSeams {
  /** A component's way to the API server. What it gives may delay calls, lose them or their answers, or be cut off. */
  client?(component: string, client: Client): Client
  /** By how many milliseconds a component's wall clock is ahead. */
  skewMs?(component: string): number
  /** Where the manifests are of the pods that a simulated node runs whatever the API says. */
  manifestPath?(node: string): string | undefined
}

/** The parts of a cluster that can be stopped and started again while the others go on. */
export type ComponentName = 'apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'nodes'

export interface Component {
  /** Stops it in good order; containers run on, as when a node agent is stopped. Its state in the API stays as it is. */
  stop(): Promise<void>
  /**
   * Stops it as a crash does: what it had under way takes effect or not, and nothing that it had yet to do does. Leases it has
   * are not given back.
   */
  crash(): Promise<void>
  /**
   * Starts it afresh, with nothing but what the API says. Does nothing where it runs. Resolves when it is at work; on a virtual
   * clock also where that takes time, as without an API server.
   */
  start(): Promise<void>
}

/** A cluster in this process. `await using` stops it at the end of the block. */
export interface Cluster extends AsyncDisposable {
  /** The API in process, as an administrator. */
  readonly client: Client
  readonly environment: Environment
  /** Everything that is served, in all versions, as a client discovers it. */
  discover(): Promise<readonly DiscoveredResource[]>
  /** Why objects are as they are, from the causal record, newest first; as an administrator sees it. */
  causes(query?: CausesQuery): Promise<CausesPage>
  /** What names of its own nodes begin with. */
  readonly nodePrefix: string
  /** `https://127.0.0.1:6443`; undefined where nothing is served over HTTPS. */
  readonly url: string | undefined
  /** A kubeconfig for an administrator, as text, and where it was written. */
  readonly kubeconfig: string | undefined
  readonly kubeconfigPath: string | undefined
  /** The same administrator's bearer token. */
  readonly token: string
  readonly components: Readonly<Record<ComponentName, Component>>
  /** A controller alone, such as `replication-controller`: one that is stopped stays so until it is started alone. */
  controller(name: string): Component
  /** A node's agent alone. Throws for nodes that share theirs. */
  node(name: string): Component
  /** Forgets history that it reads from its store again where somebody asks for it. For a program at rest, before its garbage is collected. */
  forgetHistory(): void
  /** Lets go of memory that it can do without until it has more to do. For a program at rest; resolves when that is done. */
  releaseMemory(): Promise<void>
  /** Stops everything. Containers end with it, as on a node that is switched off, unless they are to be kept. */
  stop(options?: { readonly containers?: 'terminate' | 'keep' }): Promise<void>
}
