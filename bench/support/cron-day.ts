/** `node cron-day.ts WORK_TREE`: lets a CronJob run every minute of a virtual day, and prints how many seconds of CPU that took. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const runs = 1440
const [workTree = ''] = process.argv.slice(2)
const moduleOf = (path: string): string => pathToFileURL(join(workTree, 'packages', path)).href
const { startTestCluster } = (await import(
  moduleOf('cluster/src/testing.ts')
)) as typeof import('../../packages/cluster/src/testing.ts')
const { cronJobs, jobs } = (await import(
  moduleOf('api/src/index.ts')
)) as typeof import('../../packages/api/src/index.ts')

const containers = [{ name: 'main', image: 'example/main', env: [{ name: 'SIMULATED_RUN', value: '5s' }] }]
const cluster = await startTestCluster()
await cluster.client.create(cronJobs, {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'beat', namespace: 'default' },
  spec: {
    schedule: '*/1 * * * *',
    jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers } } } },
  },
})
await cluster.advance(runs * 60_000)
const { items } = await cluster.client.list(jobs)
const names = items.map(({ metadata }) => metadata.name).join(', ')
if (items.length < 3) throw new Error(`there are not the Jobs of the last runs: ${names}`)
const { user, system } = process.cpuUsage()
console.log((user + system) / 1e6)
await cluster.stop()
