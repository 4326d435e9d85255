import { setTimeout } from 'node:timers/promises'
import { type Benchmark, type Budget, limit } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { figure } from './support/figure.ts'
import { controllersPath, countPods, podsPath, readyReplicas, replicationController } from './support/pods.ts'
import type { Server, Subject } from './support/server.ts'
import { until, workOf } from './support/work.ts'

interface Crowd {
  readonly name: string
  readonly nodes: number
  readonly pods: number
  /** Of one controller each. */
  readonly podsPerController: number
  readonly rounds: number
  readonly budgets: {
    /** CPU until a pod is ready. */
    readonly ready: Budget
    /** What the server holds for a pod, over what it held before. */
    readonly memoryPerPod?: Budget
    /** What it holds in all. */
    readonly memory?: Budget
    /** The slowest of a hundred GETs while the pods come. */
    readonly slowestGet?: Budget
    /** CPU until a pod is stopped and gone. */
    readonly stopped?: Budget
  }
}

/** Pods that are created, scheduled, started and reported ready on simulated nodes. */
function crowd({ name, nodes, pods, podsPerController, rounds, budgets }: Crowd): Benchmark {
  const what = `${pods.toLocaleString('en')} pods on ${nodes.toLocaleString('en')} simulated nodes`
  const rows = [
    { what: `${what}: until ready, per pod`, budget: budgets.ready },
    { what: `${what}: memory per pod`, budget: budgets.memoryPerPod },
    { what: `${what}: memory`, budget: budgets.memory },
    { what: `${what}: GET meanwhile, 99th percentile`, budget: budgets.slowestGet },
    { what: `${what}: until stopped and collected, per pod`, budget: budgets.stopped },
  ]
  const isWanted = rows.map(({ budget }) => budget !== undefined)
  return {
    name,
    rows: rows.filter((row): row is (typeof rows)[number] & { readonly budget: Budget } => row.budget !== undefined),
    rounds,
    needsOwnServer: true,
    async measure(subject) {
      await using server = await subject.start(['--nodes', `${nodes}`, '--runtime', 'simulated'])
      const measurements = await measureCrowd(server, { pods, podsPerController, stops: budgets.stopped !== undefined })
      return measurements.filter((_measurement, index) => isWanted[index])
    },
  }
}

/** How long a server is left alone before its memory is looked at: it collects its garbage when it has time. */
const atRestMs = 15_000

async function measureCrowd(
  server: Server,
  {
    pods,
    podsPerController,
    stops,
  }: { readonly pods: number; readonly podsPerController: number; readonly stops: boolean },
) {
  const { processes, target } = server
  const connection = await Connection.open(target)
  const names = Array.from({ length: pods / podsPerController }, (_, index) => `bench-${index}`)
  await setTimeout(atRestMs)
  const emptyBytes = processes.residentBytes()
  const latencies = await watchLatencies(server)
  const ready = await workOf(server, pods, async () => {
    for (const name of names)
      await connection.ask('POST', controllersPath, replicationController(name, podsPerController))
    for (const name of names) await until(async () => (await readyReplicas(connection, name)) === podsPerController)
  })
  const slowestS = await latencies.end()
  await setTimeout(atRestMs)
  const bytes = processes.residentBytes()
  const stopped = stops
    ? await workOf(server, pods, async () => {
        for (const name of names)
          await connection.ask('DELETE', `${controllersPath}/${name}?propagationPolicy=Background`)
        await until(async () => (await countPods(connection)) === 0)
      })
    : ready
  connection.close()
  return [
    ready,
    { figure: figure((bytes - emptyBytes) / pods, 'B'), beside: [figure(bytes, 'B')] },
    { figure: figure(bytes, 'B') },
    { figure: figure(slowestS, 's') },
    stopped,
  ]
}

const latencyPauseMs = 20

/** Sends a GET every 20 ms until it is ended, which tells the 99th percentile of the answers' times in seconds. */
async function watchLatencies({ target }: Server) {
  const connection = await Connection.open(target)
  const seconds: number[] = []
  const ended = Promise.withResolvers<void>()
  let isEnding = false
  void (async () => {
    while (!isEnding) {
      const sent = performance.now()
      await connection.ask('GET', `${podsPath}?limit=1`)
      seconds.push((performance.now() - sent) / 1000)
      await setTimeout(latencyPauseMs)
    }
    ended.resolve()
  })().catch(ended.reject)
  return {
    async end(): Promise<number> {
      isEnding = true
      await ended.promise
      connection.close()
      return seconds.sort((a, b) => a - b)[Math.floor(seconds.length * 0.99)] ?? Number.NaN
    },
  }
}

const perPod = limit(0.6e-3, 'CPU')
const bytesPerPod = limit(10e3, 'B')

export const crowds: readonly Benchmark[] = [
  crowd({
    name: 'ready-1000',
    nodes: 10,
    pods: 1000,
    podsPerController: 1000,
    rounds: 3,
    budgets: { ready: perPod, stopped: perPod },
  }),
  crowd({
    name: 'ready-8000',
    nodes: 100,
    pods: 8000,
    podsPerController: 8000,
    rounds: 1,
    budgets: { ready: perPod, memoryPerPod: bytesPerPod, stopped: perPod },
  }),
  crowd({
    name: 'ready-20000',
    nodes: 1000,
    pods: 20_000,
    podsPerController: 20_000,
    rounds: 1,
    budgets: { ready: perPod, memoryPerPod: bytesPerPod },
  }),
  crowd({
    name: 'ready-50000',
    nodes: 1000,
    pods: 50_000,
    podsPerController: 1000,
    rounds: 1,
    budgets: { ready: perPod, memory: limit(1e9, 'B'), slowestGet: limit(0.1, 's') },
  }),
  crowd({
    name: 'ready-100000',
    nodes: 5000,
    pods: 100_000,
    podsPerController: 1000,
    rounds: 1,
    budgets: { ready: perPod, memory: limit(4e9, 'B'), slowestGet: limit(0.1, 's') },
  }),
]

/** Nodes renew their leases every ten seconds: a multiple of that is measured. */
const idleMs = 60_000

/** Nodes that renew their leases, and have nothing else to do. */
function idle(name: string, nodes: number): Benchmark {
  return {
    name,
    rows: [{ what: `idle, ${nodes.toLocaleString('en')} simulated nodes`, budget: limit(2, '%') }],
    rounds: 1,
    needsOwnServer: true,
    async measure(subject: Subject) {
      await using server = await subject.start(['--nodes', `${nodes}`, '--runtime', 'simulated'])
      await setTimeout(atRestMs)
      const cpuBefore = server.processes.cpuSeconds()
      await setTimeout(idleMs)
      const cpuSeconds = server.processes.cpuSeconds() - cpuBefore
      return [
        {
          figure: figure((cpuSeconds / idleMs) * 1e5, '%'),
          beside: [figure(server.processes.residentBytes(), 'B')],
        },
      ]
    },
  }
}

export const idles: readonly Benchmark[] = [idle('idle-100', 100), idle('idle', 1000)]
