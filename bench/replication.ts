import { type Benchmark, median } from './support/benchmark.ts'
import { Connection, type Target } from './support/connection.ts'
import { startServer } from './support/server.ts'

const replicas = 1000
const controllers = '/api/v1/namespaces/default/replicationcontrollers'
const pods = '/api/v1/namespaces/default/pods'
const name = 'bench-replication'

const controller = {
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: {
    replicas,
    selector: { app: name },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example/main', command: ['serve'] }] },
    },
  },
}

async function controllerStatus(connection: Connection): Promise<{ replicas?: number; readyReplicas?: number }> {
  const answer = await connection.request('GET', `${controllers}/${name}`)
  return JSON.parse(answer.body.toString()).status ?? {}
}

async function countPods(connection: Connection): Promise<number> {
  const answer = await connection.request('GET', `${pods}?limit=1`)
  const list = JSON.parse(answer.body.toString())
  return list.items.length + (list.metadata.remainingItemCount ?? 0)
}

/** Polls every 5 ms, which is the resolution of what is measured. */
async function until(probe: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 120_000
  while (!(await probe())) {
    if (performance.now() > deadline) throw new Error('not reached within two minutes')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

interface Times {
  readonly createdS: number
  readonly readyS: number
  readonly collectedS: number
}

async function replicate(target: Target, waitForReady: boolean): Promise<Times> {
  const connection = await Connection.open(target)
  const started = performance.now()
  const answer = await connection.request('POST', controllers, controller)
  if (answer.status !== 201) throw new Error(`status ${answer.status}: ${answer.body}`)
  await until(async () => (await countPods(connection)) >= replicas)
  const createdS = (performance.now() - started) / 1000
  if (waitForReady) await until(async () => (await controllerStatus(connection)).readyReplicas === replicas)
  const readyS = (performance.now() - started) / 1000
  const deleted = performance.now()
  await connection.request('DELETE', `${controllers}/${name}?propagationPolicy=Background`)
  await until(async () => (await countPods(connection)) === 0)
  const collectedS = (performance.now() - deleted) / 1000
  connection.close()
  return { createdS, readyS, collectedS }
}

const rounds = 3

/** The median of a few fresh servers: one run is too short to stand for itself. */
async function measured(nodes: number, figure: (times: Times) => number) {
  const values: number[] = []
  for (let round = 0; round < rounds; round++) {
    await using server = await startServer(['--nodes', `${nodes}`, '--runtime', 'simulated'])
    values.push(figure(await replicate(server.target, nodes > 0)))
  }
  return { value: median(values), unit: 's' as const }
}

const created = ({ createdS }: Times): number => createdS
const collected = ({ collectedS }: Times): number => collectedS

const measuredThere = (figure: (times: Times) => number) => async (target: Target) => ({
  value: figure(await replicate(target, false)),
  unit: 's' as const,
})

export const createAlone: Benchmark = {
  name: 'create-alone',
  what: 'ReplicationController 0 → 1,000 pods created, no nodes',
  budget: { value: 0.3, unit: 's' },
  upstream: 1.46,
  measure: () => measured(0, created),
  measureReference: measuredThere(created),
}

export const collectAlone: Benchmark = {
  name: 'collect-alone',
  what: 'the 1,000 pods collected after the controller is deleted, no nodes',
  budget: { value: 0.5, unit: 's' },
  upstream: 2.75,
  measure: () => measured(0, collected),
  measureReference: measuredThere(collected),
}

export const replicationCreate: Benchmark = {
  name: 'replication-create',
  what: 'ReplicationController 0 → 1,000 pods created on 10 simulated nodes',
  budget: { value: 0.3, unit: 's' },
  measure: () => measured(10, created),
}

export const replicationReady: Benchmark = {
  name: 'replication-ready',
  what: 'ReplicationController 0 → 1,000 pods ready on 10 simulated nodes',
  budget: { value: 1, unit: 's' },
  measure: () => measured(10, ({ readyS }) => readyS),
}

export const replicationCollect: Benchmark = {
  name: 'replication-collect',
  what: 'the 1,000 running pods stopped and collected after the controller is deleted',
  budget: { value: 0.5, unit: 's' },
  measure: () => measured(10, collected),
}
