import { setTimeout } from 'node:timers/promises'
import { type Benchmark, limit } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { figure, median } from './support/figure.ts'
import { podsPath, unscheduledPod } from './support/pods.ts'

const watcherCount = 1000
const changeCount = 20
const pauseMs = 200
const name = 'bench-watched'

/** One change of a pod, as long as it takes until the last of a thousand watchers has it. */
export const watchers: Benchmark = {
  name: 'watchers',
  rows: [{ what: 'one pod change to 1,000 watchers, last one served', budget: limit(0.05, 's') }],
  rounds: 1,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start()
    const { processes, target } = server
    const connection = await Connection.open(target)
    const created = (await connection.ask('POST', podsPath, unscheduledPod(name))) as {
      readonly metadata: { readonly resourceVersion: string }
    }
    let waitingFor = ''
    let missing = 0
    let served = Promise.withResolvers<void>()
    const watch = connection.encode('GET', `${podsPath}?watch=true&resourceVersion=${created.metadata.resourceVersion}`)
    const watching: Connection[] = []
    for (let index = 0; index < watcherCount; index += 1) {
      const watcher = await Connection.open(target)
      watcher.stream(watch, (chunk) => {
        if (missing === 0 || !chunk.includes(waitingFor)) return
        missing -= 1
        if (missing === 0) served.resolve()
      })
      watching.push(watcher)
    }
    await setTimeout(pauseMs * 5)
    const seconds: number[] = []
    const cpuBefore = processes.cpuSeconds()
    for (let change = 0; change < changeCount; change += 1) {
      waitingFor = `bench-change-${change}.`
      missing = watcherCount
      served = Promise.withResolvers()
      const patch = JSON.stringify({ metadata: { annotations: { change: waitingFor } } })
      const request = connection.encode('PATCH', `${podsPath}/${name}`, patch, 'application/merge-patch+json')
      const sent = performance.now()
      await Promise.all([connection.send(request), served.promise])
      seconds.push((performance.now() - sent) / 1000)
      await setTimeout(pauseMs)
    }
    const cpuSeconds = processes.cpuSeconds() - cpuBefore
    for (const watcher of watching) watcher.close()
    await connection.ask('DELETE', `${podsPath}/${name}?gracePeriodSeconds=0`)
    connection.close()
    return [{ figure: figure(median(seconds), 's'), beside: [figure(cpuSeconds / changeCount, 'CPU')] }]
  },
}
