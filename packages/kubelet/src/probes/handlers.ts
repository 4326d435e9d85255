import { connect } from 'node:net'
import type { Container, ExecAction, HttpGetAction, TcpSocketAction } from '@coracle/api'
import type { Runtime } from '../runtimes/runtime.ts'
import { connectFailure, HandlerTargetError, portOf, withPort } from './ports.ts'

/** What a handler acts on. */
export interface HandlerTarget {
  readonly runtime: Runtime
  readonly containerId: string
  readonly container: Container
  /** Where the pod listens, unless the handler names a host. */
  readonly address: string
  /** How the handler calls itself to HTTP and gRPC servers. */
  readonly userAgent: string
  /** How long it has, for messages: the signal is what ends it. */
  readonly timeoutSeconds: number
}

/** One of the ways to act on a container, as probes and lifecycle hooks name them. */
export interface Handler {
  readonly exec?: ExecAction | undefined
  readonly httpGet?: HttpGetAction | undefined
  readonly tcpSocket?: TcpSocketAction | undefined
  readonly grpc?: { readonly port: number; readonly service?: string | undefined } | undefined
}

/** How it went; `output` is for people. */
export interface HandlerResult {
  readonly ok: boolean
  /** It went well, but there is something to tell. */
  readonly warning?: boolean
  /** It could not be done at all, which says nothing of the container. */
  readonly unknown?: boolean
  /** A server has answered, whatever it said. */
  readonly answered?: boolean
  /** That of a command that was run. */
  readonly exitCode?: number
  readonly output: string
}

/**
 * Runs a handler once. Never rejects: what goes wrong is a failed result, running out of time included, of which the
 * signal's reason tells.
 */
export async function runHandler(handler: Handler, target: HandlerTarget, signal: AbortSignal): Promise<HandlerResult> {
  try {
    if (handler.exec !== undefined) return await runExec(handler.exec, target, signal)
    if (handler.httpGet !== undefined) return await askHttp(handler.httpGet, target, signal)
    if (handler.tcpSocket !== undefined) return await openTcp(handler.tcpSocket, target, signal)
    if (handler.grpc !== undefined) return await checkGrpc(handler.grpc, target, signal)
    return { ok: false, unknown: true, output: 'missing probe handler' }
  } catch (error) {
    const output = error instanceof Error ? error.message : String(error)
    return error instanceof HandlerTargetError ? { ok: false, unknown: true, output } : { ok: false, output }
  }
}

async function runExec(
  action: ExecAction,
  { runtime, containerId, timeoutSeconds }: HandlerTarget,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const command = action.command ?? []
  try {
    const { exitCode, output } = await runtime.execSync(containerId, command, signal, timeoutSeconds * 1000)
    return { ok: exitCode === 0, output, exitCode }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (!signal.aborted) return { ok: false, unknown: true, output: message }
    return { ok: false, output: `command timed out: "${command.join(' ')}" ${message}` }
  }
}

function openTcp(
  action: TcpSocketAction,
  { container, address }: HandlerTarget,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const host = action.host === undefined || action.host === '' ? address : action.host
  const port = portOf(action.port, container)
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal })
    socket.once('connect', () => {
      socket.destroy()
      resolve({ ok: true, output: '' })
    })
    socket.once('error', (error) => {
      const why = signal.aborted ? `dial tcp ${withPort(host, port)}: i/o timeout` : connectFailure(error, host, port)
      reject(new Error(why))
    })
  })
}

/** Loaded with the first, as what asks by gRPC is. */
async function askHttp(action: HttpGetAction, target: HandlerTarget, signal: AbortSignal): Promise<HandlerResult> {
  const { getHttp } = await import('./http-get.ts')
  return getHttp({ action, ...target }, signal)
}

async function checkGrpc(
  { port, service = '' }: NonNullable<Handler['grpc']>,
  { address, userAgent, timeoutSeconds }: HandlerTarget,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const { checkGrpcHealth } = await import('./grpc-health.ts')
  return checkGrpcHealth({ host: address, port, service, userAgent, timeoutSeconds }, signal)
}
