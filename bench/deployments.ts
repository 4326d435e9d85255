import { type Benchmark, limit, type Measurement, ratio } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { startHollowNodes } from './support/hollow-nodes.ts'
import { countPods } from './support/pods.ts'
import type { Server } from './support/server.ts'
import { until, workOf } from './support/work.ts'

const replicas = 1000
const name = 'bench-deployment'
const path = '/apis/apps/v1/namespaces/default/deployments'

/**
 * A deployment with a thousand pods, which do not get any further where there are no nodes. The first time the server runs its
 * code for the first time; a reference server that runs already has done that before.
 */
export const deployment: Benchmark = {
  name: 'deployment',
  rows: [
    { what: 'Deployment 0 → 1,000 pods, no nodes, per pod', budget: ratio(0.12, 2.41e-3, 'CPU') },
    { what: 'those 1,000 pods collected, per pod', budget: ratio(0.03, 5e-3, 'CPU') },
    { what: 'the same again on the same server: created, per pod', budget: ratio(0.12, 2.41e-3, 'CPU') },
    { what: 'the same again on the same server: collected, per pod', budget: ratio(0.03, 5e-3, 'CPU') },
  ],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '0'])
    const connection = await Connection.open(server.target)
    const measurements: Measurement[] = []
    for (let round = 0; round < 2; round += 1) {
      const created = await workOf(server, replicas, async () => {
        await connection.ask('POST', path, deploymentOf(name, replicas))
        await until(async () => (await countPods(connection)) >= replicas)
      })
      measurements.push(created, await collected(server, connection))
    }
    connection.close()
    return measurements
  },
}

function collected(server: Server, connection: Connection): Promise<Measurement> {
  return workOf(server, replicas, async () => {
    await connection.ask('DELETE', `${path}/${name}?propagationPolicy=Background`)
    await until(async () => (await countPods(connection)) === 0)
  })
}

/** All pods are replaced by those of another image. */
function rolledOut(server: Server, connection: Connection): Promise<Measurement> {
  return workOf(server, replicas, async () => {
    await connection.ask('PUT', `${path}/${name}`, deploymentOf(name, replicas, 'example/main:2'))
    await until(() => isRolledOut(connection, name))
  })
}

/** A thousand pods replaced on nodes whose agent is the benchmark: what the control plane does for it, beside upstream's. */
export const hollowRollout: Benchmark = {
  name: 'rollout-hollow',
  rows: [
    { what: 'rolling update of 1,000 replicas on 20 hollow nodes, per replica', budget: ratio(0.2, 17.9e-3, 'CPU') },
  ],
  rounds: 1,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '0'])
    await using _nodes = await startHollowNodes(server.target, 20)
    const connection = await Connection.open(server.target)
    await connection.ask('POST', path, deploymentOf(name, replicas))
    await until(() => isRolledOut(connection, name))
    const rolled = await rolledOut(server, connection)
    await collected(server, connection)
    connection.close()
    return [rolled]
  },
}

/** A thousand pods replaced, a quarter too many and a quarter missing at most. */
export const rollout: Benchmark = {
  name: 'rollout',
  rows: [
    {
      what: 'rolling update of 1,000 replicas on 100 simulated nodes, per replica',
      budget: limit(2e-3, 'CPU'),
    },
  ],
  rounds: 3,
  needsOwnServer: true,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '100', '--runtime', 'simulated'])
    const connection = await Connection.open(server.target)
    await connection.ask('POST', path, deploymentOf(name, replicas))
    await until(() => isRolledOut(connection, name))
    const rolled = await rolledOut(server, connection)
    connection.close()
    return [rolled]
  },
}

const many = 600
const servicesPath = '/api/v1/namespaces/default/services'

/** Small deployments with a service each, as a file of manifests brings them. */
export const deployments: Benchmark = {
  name: 'deployments',
  rows: [
    {
      what: '600 Deployments of one pod with a Service each on 10 simulated nodes: until available, per Deployment',
      budget: limit(5e-3, 'CPU'),
    },
  ],
  rounds: 3,
  needsOwnServer: true,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '10', '--runtime', 'simulated'])
    const connection = await Connection.open(server.target)
    const names = Array.from({ length: many }, (_, index) => `${name}-${index}`)
    const available = await workOf(server, many, async () => {
      for (const each of names) {
        await connection.ask('POST', path, deploymentOf(each, 1))
        await connection.ask('POST', servicesPath, serviceOf(each))
      }
      for (const each of names) await until(() => isRolledOut(connection, each))
    })
    connection.close()
    return [available]
  },
}

function deploymentOf(name: string, replicas: number, image = 'example/main'): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image, command: ['serve'] }] },
      },
    },
  }
}

const serviceOf = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
})

interface DeploymentObject {
  readonly metadata: { readonly generation: number }
  readonly spec: { readonly replicas: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
  }
}

/** Whether a deployment has only new pods, and all of them available. */
async function isRolledOut(connection: Connection, name: string): Promise<boolean> {
  const { metadata, spec, status = {} } = (await connection.ask('GET', `${path}/${name}`)) as DeploymentObject
  return (
    status.observedGeneration === metadata.generation &&
    status.replicas === spec.replicas &&
    status.updatedReplicas === spec.replicas &&
    status.availableReplicas === spec.replicas
  )
}
