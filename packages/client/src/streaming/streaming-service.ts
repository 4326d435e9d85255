import type { ForwardPort, RunCommand } from './command-streams.ts'

/** Which streams a client wants of a command. */
export interface CommandOptions {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** What is behind a request that becomes a connection. */
export type StreamingService =
  | { readonly kind: 'command'; readonly options: CommandOptions; readonly run: RunCommand }
  | {
      readonly kind: 'portForward'
      /** For messages: namespace and name of the pod. */
      readonly pod: string
      /** Those of the query. */
      readonly ports: readonly number[]
      readonly forward: ForwardPort
    }
