import { type Benchmark, ratio } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { load } from './support/load.ts'
import { podsPath, unscheduledPod } from './support/pods.ts'
import type { Server } from './support/server.ts'

const configMapsPath = '/api/v1/namespaces/default/configmaps'

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(400) },
})

export const get: Benchmark = {
  name: 'get',
  rows: [{ what: 'GET one small object, 16 connections', budget: ratio(0.15, 333e-6, 'CPU') }],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start()
    const setup = await Connection.open(server.target)
    await setup.ask('POST', configMapsPath, configMap('bench-get'))
    const request = setup.encode('GET', `${configMapsPath}/bench-get`)
    const { cpu, rate } = await load(server, { connections: 16, expectedStatus: 200, next: () => request })
    await setup.ask('DELETE', `${configMapsPath}/bench-get`)
    setup.close()
    return [{ figure: cpu, beside: [rate] }]
  },
}

export const create: Benchmark = {
  name: 'create',
  rows: [{ what: 'CREATE a 0.5 kB ConfigMap, durable, 16 connections', budget: ratio(0.2, 901e-6, 'CPU') }],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start()
    const run = `bench-${process.pid}-${Math.floor(performance.now())}`
    const { cpu, rate } = await load(server, {
      connections: 16,
      expectedStatus: 201,
      next: (connection, index, nth) =>
        connection.encode('POST', configMapsPath, JSON.stringify(configMap(`${run}-${index}-${nth}`))),
    })
    const cleanup = await Connection.open(server.target)
    await cleanup.ask('DELETE', configMapsPath)
    cleanup.close()
    return [{ figure: cpu, beside: [rate] }]
  },
}

const strategicMergePatch = 'application/strategic-merge-patch+json'

/** What a node says of a pod: it runs, and its container is ready or not. */
const statusPatch = (isReady: boolean) => ({
  status: {
    phase: 'Running',
    conditions: ['Ready', 'ContainersReady'].map((type) => ({
      type,
      status: isReady ? 'True' : 'False',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    containerStatuses: [
      { name: 'main', ready: isReady, restartCount: 0, image: 'example/main', imageID: '', state: { running: {} } },
    ],
  },
})

export const status: Benchmark = {
  name: 'status',
  rows: [{ what: "PATCH a pod's status, 16 connections, 20 pods each", budget: ratio(0.2, 2.39e-3, 'CPU') }],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start()
    const [connections, podsEach] = [16, 20]
    const nameOf = (index: number) => `bench-status-${index}`
    const setup = await createPods(server, connections * podsEach, nameOf)
    const bodies = [true, false].map((isReady) => JSON.stringify(statusPatch(isReady)))
    const { cpu, rate } = await load(server, {
      connections,
      expectedStatus: 200,
      next(connection, index, nth) {
        const path = `${podsPath}/${nameOf(index * podsEach + (nth % podsEach))}/status`
        return connection.encode('PATCH', path, bodies[Math.floor(nth / podsEach) % 2], strategicMergePatch)
      },
    })
    await setup.ask('DELETE', `${podsPath}?gracePeriodSeconds=0`)
    setup.close()
    return [{ figure: cpu, beside: [rate] }]
  },
}

export const list: Benchmark = {
  name: 'list',
  rows: [{ what: 'LIST 1,000 pods, 8 connections', budget: ratio(16, 46, '/s') }],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start()
    const setup = await createPods(server, 1000, (index) => `bench-list-${index}`)
    const request = setup.encode('GET', podsPath)
    const { cpu, rate } = await load(server, { connections: 8, expectedStatus: 200, next: () => request })
    await setup.ask('DELETE', `${podsPath}?gracePeriodSeconds=0`)
    setup.close()
    return [{ figure: rate, beside: [cpu] }]
  },
}

async function createPods({ target }: Server, count: number, nameOf: (index: number) => string): Promise<Connection> {
  const connection = await Connection.open(target)
  for (let index = 0; index < count; index += 1) await connection.ask('POST', podsPath, unscheduledPod(nameOf(index)))
  return connection
}
