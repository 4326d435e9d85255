import { request as httpRequest, type IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Duplex, finished } from 'node:stream'
import { ApiError, badRequest, internalError, type LogOptions, logQuery, notFound, type Pod, pods } from '@coracle/api'
import type { NodeAgent } from '@coracle/apiserver'
import { createHttpClient, type HttpClient, tlsOptionsOf } from '@coracle/client'
import { type ForwardPort, openPortForwardAt } from '@coracle/client/streaming'
import type { Environment } from '@coracle/environment'
import type { KeyPair } from '@coracle/environment/certificates'
import { dialOverTls } from './dial-over-tls.ts'
import { endpointText, type NodeEndpoint } from './node-endpoint.ts'
import { nodeCertificateProblem } from './node-identity-check.ts'
import { openTunnel } from './open-tunnel.ts'

/** What an agent says of its pods, and of what went wrong, at most. */
const jsonBytesMax = 64 * 1024 * 1024
const errorBytesMax = 64 * 1024

export interface RemoteNodeOptions {
  readonly environment: Environment
  readonly nodeName: string
  readonly endpoint: NodeEndpoint
  /** The authority of the cluster, as PEM. */
  readonly caPem: string
  /** What is shown to the agent. */
  readonly client: KeyPair
}

/** The agent of a node on another machine, or in another process: asked over HTTPS, at the paths of kubelets. */
export class RemoteNode implements NodeAgent {
  readonly host: string
  readonly #options: RemoteNodeOptions
  readonly #client: HttpClient
  readonly #tls: ReturnType<typeof tlsOptionsOf>

  constructor(options: RemoteNodeOptions) {
    const { environment, nodeName, endpoint, caPem, client } = options
    this.#options = options
    this.host = endpointText(endpoint)
    const connection = {
      server: `https://${this.host}`,
      ca: caPem,
      cert: client.certificatePem,
      key: client.keyPem,
      // An agent that is several nodes goes by the name.
      ...(isIP(nodeName) === 0 ? { serverName: nodeName } : {}),
      verifyServer: (certificate: Parameters<typeof nodeCertificateProblem>[1]) =>
        nodeCertificateProblem(nodeName, certificate),
    }
    this.#client = createHttpClient({ ...connection, ...environment })
    this.#tls = tlsOptionsOf(connection)
  }

  connect(signal: AbortSignal): Promise<Duplex> {
    const { endpoint, environment } = this.#options
    return dialOverTls(endpoint, this.#tls, environment.clock, signal)
  }

  /** A connection to a port of a pod of the node. Rejects in the agent's words where there is none, and once the signal is aborted. */
  async connectToPod(target: NodeEndpoint, signal: AbortSignal): Promise<Duplex> {
    return openTunnel(await this.connect(signal), endpointText(target), {}, signal)
  }

  /** As `NodeGateway.logs`; `options` name the container. */
  async logs(
    { metadata: { namespace, name = '' } }: Pod,
    options: LogOptions,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const query = new URLSearchParams(logQuery(options)).toString()
    try {
      return await this.#get(`/containerLogs/${namespace}/${name}/${options.container}?${query}`, signal)
    } catch (error) {
      if (!(error instanceof ApiError)) throw internalError(`error dialing backend: ${(error as Error).message}`)
      throw error.code === 404 ? notFound(pods, name) : error
    }
  }

  /** A way to the ports of a pod. Rejects in the agent's words where the pod does not run. */
  async portForward({ metadata: { namespace, name } }: Pod): Promise<ForwardPort> {
    const { clock } = this.#options.environment
    return async (port, stream, signal) => {
      const way = await openPortForwardAt(this.#client, clock, `/portForward/${namespace}/${name}`)
      const leave = () => way.close()
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      try {
        const { stream: data, problem } = await way.connect(port)
        stream.pipe(data)
        data.pipe(stream)
        finished(stream, { writable: false }, () => data.end())
        const why = await problem
        if (why !== '') throw new Error(why.replace(/^error forwarding port \d+ to pod \S+: /, ''))
        // What has come is the stream's before the connection goes.
        await new Promise((resolve) => finished(data, { writable: false }, resolve))
      } finally {
        signal.removeEventListener('abort', leave)
        way.close()
      }
    }
  }

  /** What the agent answers at a path, as JSON. Rejects where it has not answered before the signal is aborted. */
  async json<T>(path: string, signal: AbortSignal): Promise<T> {
    return JSON.parse(await boundedText(await this.#get(path, signal), jsonBytesMax)) as T
  }

  /** Makes the directory of a volume, where it is not there yet, and gives its path on the node. Rejects in the agent's words. */
  async createVolume(volumeName: string, signal: AbortSignal): Promise<string> {
    const answer = await this.#ask('PUT', `/localVolumes/${encodeURIComponent(volumeName)}`, signal)
    const { path } = JSON.parse(await boundedText(answer, errorBytesMax)) as { readonly path?: unknown }
    if (typeof path !== 'string' || !path.startsWith('/'))
      throw internalError('the node does not say where the volume is')
    return path
  }

  /** Removes it and all that is in it. Rejects where `path` is not where it is. */
  async removeVolume(volumeName: string, path: string, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ path }).toString()
    const answer = await this.#ask('DELETE', `/localVolumes/${encodeURIComponent(volumeName)}?${query}`, signal)
    await boundedText(answer, errorBytesMax)
  }

  #get(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#ask('GET', path, signal)
  }

  /** Asks on a connection of its own: an agent is not asked often enough for kept ones to pay. Rejects with an ApiError for codes from 400. */
  async #ask(method: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const socket = await this.connect(signal)
    const leave = () => void socket.destroy()
    signal.addEventListener('abort', leave, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', leave))
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Host: this.host, Connection: 'close', 'User-Agent': 'coracle' }
      const request = httpRequest({ method, path, headers, createConnection: () => socket }, resolve)
      request.on('error', reject)
      request.end()
    })
    const { statusCode: code = 0 } = answer
    if (code < 400) return answer
    const message = (await boundedText(answer, errorBytesMax)).trim()
    if (code === 400) throw badRequest(message)
    throw new ApiError(code, code === 404 ? 'NotFound' : 'InternalError', message)
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

/** The whole of a body. Rejects with a RangeError where it is longer. */
async function boundedText(body: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new RangeError(`the answer of a node is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
