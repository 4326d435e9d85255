import { listing, nodeLog, type Pod, parseLogOptions } from '@coracle/api'
import { type Exchange, send, sendJson, sendText } from './exchange.ts'
import { sendPieces } from './pod-paths.ts'
import { Refusal } from './refusal.ts'

/** `/healthz` and the checks below it. */
export function healthz(exchange: Exchange): void {
  const [, check, ...more] = exchange.parts
  const isKnown = check === undefined || ['ping', 'log', 'syncloop'].includes(check)
  if (!isKnown || more.length > 0) throw new Refusal(404, `404: Page Not Found: ${exchange.path}`)
  sendText(exchange, 200, 'ok')
}

/** `/pods`: what the node is to run. */
export function listPods(exchange: Exchange): void {
  sendJson(exchange, podList(exchange.node.pods()))
}

/** `/runningpods/`: what its runtime says that it runs. */
export async function listRunningPods(exchange: Exchange): Promise<void> {
  const { runtime } = exchange.node
  const [sandboxes, containers] = await Promise.all([runtime.listPodSandboxes(), runtime.listContainers()])
  const uids = new Set(exchange.node.pods().map(({ metadata }) => metadata.uid))
  const running = sandboxes
    .filter(({ ready, podUid }) => ready && uids.has(podUid))
    .map(({ id, podUid, podName, podNamespace }): unknown => ({
      metadata: { name: podName, namespace: podNamespace, uid: podUid, creationTimestamp: null },
      spec: {
        containers: containers
          .filter(({ sandboxId, state }) => sandboxId === id && state === 'running')
          .map(({ name, image }) => ({ name, image, resources: {} })),
      },
      status: {},
    }))
  sendJson(exchange, podList(running))
}

const podList = (items: readonly unknown[]) => ({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items })

/** `/configz`: how the agent was started. */
export function configz(exchange: Exchange): void {
  sendJson(exchange, { kubeletconfig: exchange.configuration })
}

/** `/logs/`: the logs of containers, as they lie on a host. */
export async function logs(exchange: Exchange): Promise<void> {
  const { node, path, parts, response, signal } = exchange
  const found = nodeLog(parts.slice(1), node.pods())
  if (found === undefined) throw new Refusal(404, '404 page not found')
  if (found.kind === 'directory') {
    return send(response, 200, 'text/html; charset=utf-8', listing(path, found.entries))
  }
  const { pod, container, previous } = found
  const options = { ...parseLogOptions({ timestamps: 'true' }, nameOf(pod)), container, previous }
  await sendPieces(exchange, node.logs(pod, options, signal))
}

const nameOf = ({ metadata }: Pod): string => metadata.name ?? ''
