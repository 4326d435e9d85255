/* What is read of the answers of the Docker Engine API, as Docker and Podman give them. Fields that one of both leaves out are optional. */

export interface VersionAnswer {
  readonly Version?: string
  readonly ApiVersion?: string
  readonly MinAPIVersion?: string
  readonly Components?: readonly { readonly Name: string }[] | null
}

export interface InfoAnswer {
  readonly DockerRootDir?: string
  readonly KernelVersion?: string
  readonly DefaultRuntime?: string
  readonly Runtimes?: Readonly<Record<string, RuntimeAnswer | null>> | null
}

/** What is told of a runtime of Docker: what it can do is a text in JSON, in the words of OCI's `features`. */
export interface RuntimeAnswer {
  readonly status?: Readonly<Record<string, string>> | null
}

/** One of `/containers/json`. */
export interface ListedContainer {
  readonly Id: string
  readonly ImageID: string
  readonly Image: string
  /** In seconds. */
  readonly Created: number
  readonly State: string
  readonly Labels: Readonly<Record<string, string>> | null
}

/** `/containers/ID/json`. Times are RFC 3339; the year 1 stands for never. */
export interface InspectedContainer {
  readonly Id: string
  readonly Created: string
  /** The id of its image. */
  readonly Image: string
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    readonly OOMKilled?: boolean
    readonly Error?: string
    readonly ExitCode: number
    readonly Pid?: number
    readonly StartedAt: string
    readonly FinishedAt: string
  }
  readonly Config: {
    readonly Image: string
    readonly Labels: Readonly<Record<string, string>> | null
    readonly Tty?: boolean
    readonly StopSignal?: string | number
  }
  readonly HostConfig?: {
    readonly NetworkMode?: string
    readonly Mounts?:
      | readonly {
          readonly Target: string
          readonly BindOptions?: { readonly ReadOnlyForceRecursive?: boolean } | null
        }[]
      | null
  }
  readonly Mounts?: readonly { readonly Source: string; readonly Destination: string; readonly RW: boolean }[] | null
  readonly NetworkSettings?: {
    readonly Networks?: Readonly<
      Record<string, { readonly IPAddress?: string; readonly GlobalIPv6Address?: string } | null>
    > | null
  }
}

export interface ListedImage {
  readonly Id: string
  readonly RepoTags: readonly string[] | null
  readonly RepoDigests: readonly string[] | null
  readonly Size: number
}

export interface InspectedImage extends ListedImage {
  readonly Config?: { readonly User?: string } | null
}

/** What is told of a pull or a load as it goes on. */
export interface ProgressMessage {
  readonly error?: string
  readonly errorDetail?: { readonly message?: string }
}

export interface ContainerEventMessage {
  readonly Action?: string
  readonly Actor?: { readonly ID: string; readonly Attributes?: Readonly<Record<string, string>> | null }
}

export interface InspectedExec {
  readonly ContainerID: string
  readonly Running: boolean
  readonly ExitCode: number | null
  readonly Pid: number
}

export interface StatsAnswer {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number | null } | null } | null
  readonly memory_stats?: {
    readonly usage?: number | null
    /** Control groups v1 have names that begin with `total_` and `total_rss`; v2 have `inactive_file` and `anon`. */
    readonly stats?: {
      readonly total_inactive_file?: number
      readonly inactive_file?: number
      readonly total_rss?: number
      readonly anon?: number
    } | null
  } | null
  readonly networks?: Readonly<Record<string, NetworkStatsAnswer | null>> | null
}

export interface NetworkStatsAnswer {
  readonly rx_bytes?: number
  readonly rx_errors?: number
  readonly tx_bytes?: number
  readonly tx_errors?: number
}
