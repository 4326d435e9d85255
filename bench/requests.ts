import type { Benchmark } from './support/benchmark.ts'
import { Connection, load, type Target } from './support/connection.ts'
import { startServer } from './support/server.ts'

const seconds = 5
const configMaps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(400) },
})

async function withServer<T>(measure: (target: Target) => Promise<T>): Promise<T> {
  await using server = await startServer()
  return await measure(server.target)
}

async function getOne(target: Target) {
  const setup = await Connection.open(target)
  await setup.request('POST', configMaps, configMap('bench-get'))
  const request = setup.encode('GET', `${configMaps}/bench-get`)
  const result = await load(target, { connections: 16, seconds, expected: 200, next: () => request })
  await setup.request('DELETE', `${configMaps}/bench-get`)
  setup.close()
  return { value: result.perSecond, unit: '/s' as const }
}

async function createMany(target: Target) {
  const run = `bench-${process.pid}-${Math.floor(performance.now())}`
  const result = await load(target, {
    connections: 16,
    seconds,
    expected: 201,
    next: (connection, index, nth) =>
      connection.encode('POST', configMaps, JSON.stringify(configMap(`${run}-${index}-${nth}`))),
  })
  const cleanup = await Connection.open(target)
  await cleanup.request('DELETE', configMaps)
  cleanup.close()
  return { value: result.perSecond, unit: '/s' as const }
}

const podCount = 1000

async function listMany(target: Target) {
  const setup = await Connection.open(target)
  for (let index = 0; index < podCount; index++) {
    await setup.request('POST', pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `bench-list-${index}`, labels: { app: 'bench-list' } },
      spec: {
        schedulerName: 'nobody',
        containers: [{ name: 'main', image: 'example/main', resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
      },
    })
  }
  const request = setup.encode('GET', pods)
  const result = await load(target, { connections: 8, seconds, expected: 200, next: () => request })
  await setup.request('DELETE', `${pods}?gracePeriodSeconds=0`)
  setup.close()
  return { value: result.perSecond, unit: '/s' as const }
}

export const get: Benchmark = {
  name: 'get',
  what: 'GET one small object, 16 connections',
  budget: { value: 20_000, unit: '/s' },
  upstream: 5800,
  measure: () => withServer(getOne),
  measureReference: getOne,
}

export const create: Benchmark = {
  name: 'create',
  what: 'CREATE a 0.5 kB ConfigMap, durable, 16 connections',
  budget: { value: 8000, unit: '/s' },
  upstream: 2270,
  measure: () => withServer(createMany),
  measureReference: createMany,
}

export const list: Benchmark = {
  name: 'list',
  what: 'LIST 1,000 pods, 8 connections',
  budget: { value: 250, unit: '/s' },
  upstream: 22,
  measure: () => withServer(listMany),
  measureReference: listMany,
}
