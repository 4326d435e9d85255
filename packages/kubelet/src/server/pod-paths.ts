import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isTrue, type Pod, parseLogOptions } from '@coracle/api'
import { type CommandOptions, negotiateService, type StreamingService, serveUpgraded } from '@coracle/client/streaming'
import { type Exchange, sendText } from './exchange.ts'
import { Refusal } from './refusal.ts'

/** Ports in one query, at most. */
const queryPortsMax = 100
/** What `/run` gives back of a command's output; more is left out. */
const runOutputBytesMax = 1024 * 1024

/** `/containerLogs/{namespace}/{pod}/{container}`: what a container has written. */
export async function containerLogs(exchange: Exchange): Promise<void> {
  const { node, query, signal, parts } = exchange
  const [, namespace = '', name = '', container = ''] = parts
  if (parts.length !== 4) throw notFoundPath(exchange)
  const asked = Object.fromEntries(query)
  // As of old.
  if (asked.tail !== undefined && asked.tail !== 'all') asked.tailLines = asked.tail
  const options = { ...parseLogOptions(asked, name), container }
  const pod = podNamed(exchange, namespace, name, `pod ${JSON.stringify(name)} does not exist`)
  if (!containerNames(pod).includes(container)) {
    throw new Refusal(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`)
  }
  await sendPieces(exchange, node.logs(pod, options, signal))
}

/** Sends text as it comes, as fast as the client takes it. */
export async function sendPieces(
  { response, request, signal }: Exchange,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
  response.flushHeaders()
  if (request.method === 'HEAD') return void response.end()
  await pipeline(Readable.from(pieces, { objectMode: false }), response, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

/** `/exec/{namespace}/{pod}[/{uid}]/{container}`: runs a command, with streams. */
export async function exec(exchange: Exchange): Promise<void> {
  const { node, query } = exchange
  const { pod, container } = namedContainer(exchange)
  const options = streamsOf(query)
  const command = query.getAll('command')
  if (command.length === 0 || command[0] === '') throw new Refusal(400, 'you must specify a command')
  const run = await node.exec(pod, { container, command, tty: options.tty })
  await serve(exchange, { kind: 'command', options, run })
}

/** `/attach/{namespace}/{pod}[/{uid}]/{container}`: connects streams to what a container runs. */
export async function attach(exchange: Exchange): Promise<void> {
  const { node, query } = exchange
  const { pod, container } = namedContainer(exchange)
  const options = streamsOf(query)
  await serve(exchange, { kind: 'command', options, run: await node.attach(pod, { container }) })
}

/** `/portForward/{namespace}/{pod}[/{uid}]`: connects streams to ports. */
export async function portForward(exchange: Exchange): Promise<void> {
  const { node, query, parts } = exchange
  const [, namespace = '', name = '', uid] = parts
  if (parts.length < 3 || parts.length > 4) throw notFoundPath(exchange)
  const pod = podNamed(exchange, namespace, name)
  if (uid !== undefined && pod.metadata.uid !== uid) throw new Refusal(404, 'pod not found')
  const ports = portsOf(query)
  const forward = await node.portForward(pod)
  await serve(exchange, { kind: 'portForward', pod: `${namespace}/${name}`, ports, forward })
}

/** `/run/{namespace}/{pod}[/{uid}]/{container}`: runs a command to its end, and answers what it wrote. */
export async function run(exchange: Exchange): Promise<void> {
  const { node, query, signal, request } = exchange
  if (request.method !== 'POST') throw new Refusal(405, '405: Method Not Allowed')
  const { pod, container } = namedContainer(exchange)
  const command = (query.get('cmd') ?? '').split(' ')
  const output = new BoundedOutput(runOutputBytesMax)
  const runCommand = await node.exec(pod, { container, command, tty: false })
  const code = await runCommand({ stdout: output.stream(), stderr: output.stream() }, signal)
  const text = output.text()
  if (code !== 0) throw new Refusal(500, `command '${command.join(' ')}' exited with ${code}: ${text}`)
  sendText(exchange, 200, text)
}

/** Keeps the beginning of what is written. */
class BoundedOutput {
  readonly #chunks: Buffer[] = []
  #left: number

  constructor(bytesMax: number) {
    this.#left = bytesMax
  }

  stream(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        const kept = chunk.subarray(0, this.#left)
        this.#left -= kept.length
        this.#chunks.push(kept)
        callback()
      },
    })
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

async function serve(exchange: Exchange, service: StreamingService): Promise<void> {
  const { request, response, environment, signal } = exchange
  const { method = '' } = request
  if (method !== 'GET' && method !== 'POST') throw new Refusal(405, '405: Method Not Allowed')
  const negotiated = negotiateService(request, service)
  const upgraded = exchange.takeConnection()
  if (upgraded === undefined || signal.aborted) return void response.destroy()
  const closed = once(upgraded.connection, 'close')
  const { clock, logger } = environment
  await serveUpgraded(service, { clock, request, upgraded, negotiated, signal }).catch((error: unknown) => {
    logger.debug('a connection of streams has ended', { error })
  })
  await closed
}

function namedContainer(exchange: Exchange): { readonly pod: Pod; readonly container: string } {
  const { parts } = exchange
  if (parts.length < 4 || parts.length > 5) throw notFoundPath(exchange)
  const [, namespace = '', name = ''] = parts
  const uid = parts.length === 5 ? parts[3] : undefined
  const pod = podNamed(exchange, namespace, name)
  if (uid !== undefined && pod.metadata.uid !== uid) throw new Refusal(404, 'pod does not exist')
  return { pod, container: parts.at(-1) ?? '' }
}

function podNamed({ node }: Exchange, namespace: string, name: string, message = 'pod does not exist'): Pod {
  const pod = node.pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  if (pod === undefined) throw new Refusal(404, message)
  return pod
}

function containerNames({ spec }: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name)
}

/** Kubelets have names of their own for these. */
function streamsOf(query: URLSearchParams): CommandOptions {
  const has = (name: string): boolean => isTrue(query.get(name))
  const options = { stdin: has('input'), stdout: has('output'), stderr: has('error'), tty: has('tty') }
  if (options.stdin || options.stdout || options.stderr) return options
  throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr')
}

function portsOf(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('port')
  if (texts.length > queryPortsMax)
    throw new Refusal(400, `no more than ${queryPortsMax} ports can be forwarded at once`)
  return texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (port > 0 && port <= 0xffff) return port
    throw new Refusal(400, `unable to parse ${JSON.stringify(text)} as a port`)
  })
}

const notFoundPath = ({ path }: Exchange): Refusal => new Refusal(404, `404: Page Not Found: ${path}`)
