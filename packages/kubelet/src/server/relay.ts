import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Container, Pod } from '@coracle/api'
import { type Clock, keptAlive } from '@coracle/environment'
import { podUidOf } from '../pod/pod-name.ts'
import type { PodSandboxStatus } from '../runtimes/runtime.ts'
import type { Caller } from './authentication.ts'
import { Refusal } from './refusal.ts'
import type { ServedNode } from './served-node.ts'

/** How long a pod may take to accept a connection. */
const connectTimeoutMs = 3_000

/** Whether somebody is a node of the cluster. */
export const isNode = ({ name, groups }: Caller): boolean =>
  groups.includes('system:nodes') && name.startsWith('system:node:')

/** Connections to pods that are open at one time. */
export class CountedConnections {
  readonly #max: number
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Counts a connection until it closes; one that has gone already, as while it was asked who opened it, never tells that again. Throws a Refusal where there are too many. */
  add(connection: Duplex): void {
    if (connection.destroyed) return
    if (this.#count >= this.#max) throw new Refusal(429, 'too many connections to pods are open')
    this.#count += 1
    connection.once('close', () => {
      this.#count -= 1
    })
  }
}

/**
 * A connection to a pod. Rejects with a Refusal where no pod of the node has that address, or nothing listens there. Pods in the network of
 * their host have the node's own address, and are reached at the ports that they declare: what else listens there is nobody's pod.
 */
export async function connectToPod(
  target: string,
  node: Pick<ServedNode, 'runtime' | 'nodeAddress' | 'pods'>,
  clock: Clock,
): Promise<Socket> {
  const [, host = '', portText = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(target) ?? []
  const port = Number(portText)
  if (host === '' || port === 0 || port > 0xffff)
    throw new Refusal(400, `${JSON.stringify(target)} is no address and port`)
  const sandboxes = (await node.runtime.listPodSandboxes()).filter(({ ready }) => ready)
  const isPods = sandboxes.some(({ addresses }) => addresses.includes(host))
  if (!isPods && !(host === node.nodeAddress && isHostPort(node.pods(), sandboxes, port))) {
    throw new Refusal(404, `no pod of this node has the address ${host}`)
  }
  return dial(host, port, clock)
}

/** Whether a pod that runs in the network of its host declares a port. */
function isHostPort(
  pods: readonly Pod[],
  sandboxes: readonly Pick<PodSandboxStatus, 'podUid'>[],
  port: number,
): boolean {
  const running = new Set(sandboxes.map(({ podUid }) => podUid))
  const declares = ({ ports = [] }: Pick<Container, 'ports'>): boolean =>
    ports.some(({ containerPort, protocol = 'TCP' }) => containerPort === port && protocol === 'TCP')
  return pods.some(
    (pod) =>
      pod.spec.hostNetwork === true &&
      running.has(podUidOf(pod)) &&
      [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].some(declares),
  )
}

function dial(host: string, port: number, clock: Clock): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, ...keptAlive })
    const fail = (why: string) => {
      timer.cancel()
      socket.destroy()
      reject(new Refusal(502, `dial tcp ${host}:${port}: ${why}`))
    }
    const timer = clock.setTimer(connectTimeoutMs, () => fail('i/o timeout'))
    const onError = ({ code, message }: NodeJS.ErrnoException) =>
      fail(code === 'ECONNREFUSED' ? 'connect: connection refused' : message)
    socket.once('error', onError)
    socket.once('connect', () => {
      timer.cancel()
      socket.off('error', onError)
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}
