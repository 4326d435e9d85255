/** Which part of a container's log, and how. The names are those of core/v1 PodLogOptions. */
export interface LogOptions {
  /** Empty: the pod's only container. */
  readonly container: string
  readonly follow: boolean
  /** The run of the container before the current one. */
  readonly previous: boolean
  readonly timestamps: boolean
  /** Undefined: all lines. */
  readonly tailLines?: number
  readonly sinceSeconds?: number
  /** Epoch milliseconds. */
  readonly sinceTimeMs?: number
  readonly limitBytes?: number
}

/** What a runtime needs to know to read one container's log; the container is already chosen. */
export type LogReadOptions = Omit<LogOptions, 'container' | 'previous' | 'sinceSeconds'>
