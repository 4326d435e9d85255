import { type Benchmark, limit, type Measurement, ratio } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { startHollowNodes } from './support/hollow-nodes.ts'
import { countPods } from './support/pods.ts'
import { until, workOf } from './support/work.ts'

const completions = 1000
const name = 'bench-job'
const path = '/apis/batch/v1/namespaces/default/jobs'

/** A thousand pods that run to their end, a hundred at a time. */
export const job: Benchmark = {
  name: 'job',
  rows: [
    {
      what: 'Job of 1,000 completions, 100 at a time, on 10 simulated nodes, per completion',
      budget: limit(2e-3, 'CPU'),
    },
  ],
  rounds: 3,
  needsOwnServer: true,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '10', '--runtime', 'simulated'])
    const connection = await Connection.open(server.target)
    const completed = await workOf(server, completions, async () => {
      await connection.ask('POST', path, jobOf(name))
      await until(async () => isComplete((await connection.ask('GET', `${path}/${name}`)) as JobObject))
    })
    connection.close()
    return [completed]
  },
}

/** The same on nodes whose agent is the benchmark: what the control plane does for it, beside upstream's. */
export const hollowJob: Benchmark = {
  name: 'job-hollow',
  rows: [
    {
      what: 'Job of 1,000 completions, 100 at a time, on 20 hollow nodes, per completion',
      budget: ratio(0.2, 8.87e-3, 'CPU'),
    },
    { what: 'the same again on the same server, per completion', budget: ratio(0.2, 8.87e-3, 'CPU') },
  ],
  rounds: 1,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '0'])
    await using _nodes = await startHollowNodes(server.target, 20)
    const connection = await Connection.open(server.target)
    const measurements: Measurement[] = []
    for (let round = 0; round < 2; round += 1) {
      const completed = await workOf(server, completions, async () => {
        await connection.ask('POST', path, jobOf(name))
        await until(async () => isComplete((await connection.ask('GET', `${path}/${name}`)) as JobObject))
      })
      measurements.push(completed)
      await connection.ask('DELETE', `${path}/${name}?propagationPolicy=Background`)
      await until(async () => (await countPods(connection)) === 0)
    }
    connection.close()
    return measurements
  },
}

function jobOf(name: string): object {
  // Simulated containers with this variable end as soon as they have started.
  const env = [{ name: 'SIMULATED_RUN', value: '0s' }]
  const containers = [{ name: 'main', image: 'example/main', command: ['work'], env }]
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { completions, parallelism: 100, template: { spec: { restartPolicy: 'Never', containers } } },
  }
}

interface JobObject {
  readonly status?: { readonly succeeded?: number; readonly conditions?: readonly { readonly type: string }[] }
}

const isComplete = ({ status }: JobObject): boolean =>
  status?.succeeded === completions && status.conditions?.some(({ type }) => type === 'Complete') === true
