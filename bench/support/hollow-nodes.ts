import { chunkedLines } from './chunked-lines.ts'
import { Connection, type Target } from './connection.ts'
import { createNodes, deleteNodes } from './nodes.ts'
import { podsPath } from './pods.ts'

/** Requests of the nodes under way at a time. */
const connectionCount = 8
const renewMs = 10_000
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'

/** What an agent reads of a pod. */
interface BoundPod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string }
  readonly spec: {
    readonly restartPolicy: string
    readonly containers: readonly { readonly name: string; readonly image: string }[]
  }
  readonly status: { readonly phase: string }
}

/**
 * Nodes whose agent is the benchmark, like kubemark's hollow nodes: any server can have them. Pods of the namespace `default` that
 * are bound to one are reported as running and ready, or as succeeded where they do not restart; those that are deleted go at
 * once. Disposing of them stops the agent and removes the nodes.
 */
export async function startHollowNodes(target: Target, count: number): Promise<AsyncDisposable> {
  // A reference server keeps the leases of earlier ones.
  const prefix = `hollow-${Date.now().toString(36)}`
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  const connections = await Promise.all(Array.from({ length: connectionCount }, () => Connection.open(target)))
  const idle = [...connections]
  const waiting: ((connection: Connection) => void)[] = []
  const underWay = new Set<Promise<void>>()
  const withConnection = (work: (connection: Connection) => Promise<unknown>): void => {
    const done = carryOut(work).finally(() => underWay.delete(done))
    underWay.add(done)
  }
  const carryOut = async (work: (connection: Connection) => Promise<unknown>): Promise<void> => {
    const connection = idle.pop() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)))
    await work(connection)
    const next = waiting.shift()
    if (next === undefined) idle.push(connection)
    else next(connection)
  }
  const [first] = connections
  if (first === undefined) throw new Error('there is no connection')
  await createNodes(first, names)
  for (const name of names) await first.ask('POST', leasesPath, leaseOf(name))
  const renewals = setInterval(() => {
    for (const name of names)
      withConnection((connection) => patch(connection, `${leasesPath}/${name}`, { spec: leaseOf(name).spec }))
  }, renewMs)

  const started = new Set<string>()
  const removed = new Set<string>()
  const watching = await Connection.open(target)
  const { metadata } = (await first.ask('GET', `${podsPath}?limit=1`)) as { metadata: { resourceVersion: string } }
  const selector = `fieldSelector=spec.nodeName%21%3D&resourceVersion=${metadata.resourceVersion}`
  watching.stream(
    watching.encode('GET', `${podsPath}?watch=true&timeoutSeconds=3600&${selector}`),
    chunkedLines((line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: BoundPod }
      if (type !== 'ADDED' && type !== 'MODIFIED') return
      const { name, uid, deletionTimestamp } = object.metadata
      const path = `${podsPath}/${name}`
      if (deletionTimestamp !== undefined && !removed.has(uid)) {
        removed.add(uid)
        withConnection((connection) => connection.request('DELETE', `${path}?gracePeriodSeconds=0`))
      } else if (deletionTimestamp === undefined && object.status.phase === 'Pending' && !started.has(uid)) {
        started.add(uid)
        withConnection((connection) => patch(connection, `${path}/status`, { status: statusOf(object) }))
      }
    }),
  )
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(renewals)
      watching.close()
      // What is under way when pods are gone would find no server.
      await Promise.all(underWay)
      await deleteNodes(first, names)
      for (const connection of connections) connection.close()
    },
  }
}

function patch(connection: Connection, path: string, body: object): Promise<unknown> {
  return connection.send(
    connection.encode('PATCH', path, JSON.stringify(body), 'application/strategic-merge-patch+json'),
  )
}

const now = (): string => new Date().toISOString().replace(/\.\d+/, '')

const leaseOf = (name: string) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') },
})

/** What an agent says of a pod that runs, or that has run. */
function statusOf({ spec }: BoundPod): object {
  const time = now()
  const runs = spec.restartPolicy === 'Always'
  const state = runs
    ? { running: { startedAt: time } }
    : { terminated: { exitCode: 0, reason: 'Completed', startedAt: time, finishedAt: time } }
  const condition = (type: string, status: boolean) => ({
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: time,
    ...(status ? {} : { reason: 'PodCompleted' }),
  })
  return {
    phase: runs ? 'Running' : 'Succeeded',
    startTime: time,
    podIP: '10.0.0.1',
    conditions: [condition('Initialized', true), condition('ContainersReady', runs), condition('Ready', runs)],
    containerStatuses: spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready: runs,
      started: runs,
      restartCount: 0,
      state,
    })),
  }
}
