import type { Environment } from '@coracle/environment'

/** Where containers' logs are, as on any node, where nothing else is said. */
export const podLogsDirectoryDefault = '/var/log/pods'
export interface CriRuntimeOptions {
  readonly environment: Environment
  /** The socket of the runtime: `unix:///run/containerd/containerd.sock`. */
  readonly endpoint: string
  /** Where the node agent keeps what it makes for pods, and who it is: whoever opens the runtime on it next takes up what runs. */
  readonly directory: string
  /** Where the logs of pods are, each in a directory `NAMESPACE_NAME_UID`. Absent: `podLogsDirectoryDefault`. */
  readonly podLogsDirectory?: string
}
