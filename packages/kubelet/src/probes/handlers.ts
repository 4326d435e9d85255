import { connect } from 'node:net'
import type { Container, ExecAction, HttpGetAction, TcpSocketAction } from '@coracle/api'
import type { Runtime } from '../runtimes/runtime.ts'
import { checkGrpcHealth } from './grpc-health.ts'

/** What a handler acts on. */
export interface HandlerTarget {
  readonly runtime: Runtime
  readonly containerId: string
  readonly container: Container
  /** Where the pod listens, unless the handler names a host. */
  readonly address: string
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
  readonly output: string
}

/** Runs a handler once. Never rejects: what goes wrong, an abort included, is a failed result. */
export async function runHandler(handler: Handler, target: HandlerTarget, signal: AbortSignal): Promise<HandlerResult> {
  try {
    if (handler.exec !== undefined) return await runExec(handler.exec, target, signal)
    if (handler.httpGet !== undefined) return await getHttp(handler.httpGet, target, signal)
    if (handler.tcpSocket !== undefined) return await openTcp(handler.tcpSocket, target, signal)
    if (handler.grpc !== undefined)
      return await checkGrpcHealth(target.address, handler.grpc.port, handler.grpc.service ?? '', signal)
    return { ok: false, output: 'missing handler' }
  } catch (error) {
    return { ok: false, output: error instanceof Error ? error.message : String(error) }
  }
}

async function runExec(
  action: ExecAction,
  { runtime, containerId }: HandlerTarget,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const { exitCode, output } = await runtime.exec(containerId, action.command ?? [], signal)
  return { ok: exitCode === 0, output }
}

/** A status from 200 to 399 is success; redirects are not followed. */
async function getHttp(
  action: HttpGetAction,
  { container, address }: HandlerTarget,
  signal: AbortSignal,
): Promise<HandlerResult> {
  const secure = action.scheme === 'HTTPS'
  const host = action.host === undefined || action.host === '' ? address : action.host
  const headers: Record<string, string> = { 'user-agent': 'kube-probe/1.36', accept: '*/*', connection: 'close' }
  for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value
  const options = {
    host,
    port: portOf(action.port, container),
    path: action.path === undefined || action.path === '' ? '/' : action.path,
    headers,
    signal,
    // Whom a pod shows its certificate to is not the probe's business, as upstream has it.
    rejectUnauthorized: false,
  }
  // Loaded when the first probe runs: importing node:http takes 40 ms of a start of 300.
  const { request: requestOf } = secure ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const request = requestOf(options, (response) => {
      const { statusCode = 0 } = response
      response.resume()
      const ok = statusCode >= 200 && statusCode < 400
      resolve({ ok, output: ok ? '' : `HTTP probe failed with statuscode: ${statusCode}` })
    })
    const url = `${secure ? 'https' : 'http'}://${host}:${options.port}${options.path}`
    request.on('error', (error) => reject(new Error(`Get "${url}": ${error.message}`)))
    request.end()
  })
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
    socket.once('error', (error) => reject(new Error(`dial tcp ${host}:${port}: ${error.message}`)))
  })
}

function portOf(port: number | string, container: Container): number {
  if (typeof port === 'number') return port
  const named = (container.ports ?? []).find(({ name }) => name === port)?.containerPort
  const number = named ?? Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new Error(`invalid port number: ${port}`)
  return number
}
