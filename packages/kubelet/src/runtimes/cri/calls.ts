import type { Duplex } from 'node:stream'
import type { CommandStreams } from '@coracle/client/streaming'
import type { Decoded, Encodable } from '@coracle/environment/grpc'
import { RpcError, rpcCodes } from '@coracle/environment/grpc-errors'
import type { imageMethods, runtimeMethods } from './methods.ts'

/** How long a call may take where nothing else is said: upstream's runtimeRequestTimeout. */
export const callTimeoutMs = 120_000

export interface CallLimits {
  /** Absent: `callTimeoutMs`; Infinity: as long as it takes. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

type Methods = typeof runtimeMethods & typeof imageMethods

/** The procedures that answer once, and do not open streams. */
export type CallName = Exclude<keyof Methods, 'exec' | 'attach' | 'portForward' | 'getContainerEvents'>

/** What a procedure is asked, with all its fields. */
export type CriRequest<Name extends CallName> = Decoded<Methods[Name]['request']>
/** What it answers: what is left out is absent. */
export type CriAnswer<Name extends CallName> = Encodable<Methods[Name]['response']>

/**
 * The procedures of the Container Runtime Interface v1. Each rejects with a `CriError` where the runtime refuses, and with a
 * `RuntimeUnavailableError` where it is not there.
 */
export type CriCalls = {
  readonly [Name in CallName]: (
    request: Encodable<Methods[Name]['request']>,
    limits?: CallLimits,
  ) => Promise<Decoded<Methods[Name]['response']>>
}

/** A command, or a container that is attached to. */
export interface CriCommand {
  readonly containerId: string
  /** Absent: the container's own process. */
  readonly command?: readonly string[]
  readonly tty: boolean
}

/** Is told what becomes of containers. */
export interface CriEventListener {
  /** Called once the runtime is known to tell. */
  opened(): void
  /** Something has become of a container or sandbox; `podUid` is undefined where that was not told. */
  told(containerId: string, podUid: string | undefined): void
  /** Called once: nothing more will be told. */
  ended(error?: unknown): void
}

/** A container runtime, as those see it who speak the Container Runtime Interface: by gRPC, or by an adapter to another interface. */
export interface CriService {
  /** Such as `unix:///run/containerd/containerd.sock`. */
  readonly endpoint: string
  readonly calls: CriCalls
  /** CRI's Exec and Attach, with the caller's streams. Resolves with the exit code when all output has been written. */
  run(command: CriCommand, streams: CommandStreams, signal: AbortSignal): Promise<number>
  /** CRI's PortForward of one connection. Resolves when it has ended, and rejects where nothing listens there. */
  forwardPort(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void>
  /** CRI's GetContainerEvents. */
  watchEvents(listener: CriEventListener): { cancel(): void }
  close(): void
}

/** Codes of gRPC that runtimes answer with. */
export const criCodes = rpcCodes

/** A call that the runtime has answered with an error. */
export class CriError extends RpcError {
  override readonly name = 'CriError'
}

/** Whether the runtime does not know what was asked about. */
export const isNotFound = (error: unknown): boolean => error instanceof CriError && error.code === rpcCodes.notFound

/** Whether the runtime has no such procedure. */
export const isUnimplemented = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === rpcCodes.unimplemented
