import type { Client, EventRecorder } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { EnvironmentSources } from '../env/environment-variables.ts'
import type { Runtime } from '../runtimes/runtime.ts'

/** What all pods of a node share. */
export interface PodContext {
  readonly client: Client
  readonly environment: Environment
  readonly runtime: Runtime
  readonly sources: EnvironmentSources
  /** Absent: events are not recorded. */
  readonly recorder?: EventRecorder
  readonly nodeName: string
  /** Address of the node, as pods see it. */
  readonly nodeAddress: string
  /** What the node offers pods. */
  readonly allocatable: Readonly<Record<string, string>>
}
