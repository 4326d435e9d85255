import { type Benchmark, type Measurement, ratio } from './support/benchmark.ts'
import { Connection } from './support/connection.ts'
import { createNodes, deleteNodes } from './support/nodes.ts'
import { controllersPath, countPods, hasUnscheduledPods, replicationController } from './support/pods.ts'
import type { Server } from './support/server.ts'
import { until, workOf } from './support/work.ts'

const replicas = 1000
const name = 'bench-replication'

/**
 * A controller with a thousand pods, which do not get any further where there are no nodes. The first time the server runs its
 * code for the first time; a reference server that runs already has done that before.
 */
export const replication: Benchmark = {
  name: 'replication',
  rows: [
    { what: 'ReplicationController 0 → 1,000 pods, no nodes, per pod', budget: ratio(0.12, 2.41e-3, 'CPU') },
    { what: 'the 1,000 pods collected, per pod', budget: ratio(0.02, 5.24e-3, 'CPU') },
    { what: 'the same again on the same server: created, per pod', budget: ratio(0.12, 2.41e-3, 'CPU') },
    { what: 'the same again on the same server: collected, per pod', budget: ratio(0.02, 5.24e-3, 'CPU') },
  ],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '0'])
    const connection = await Connection.open(server.target)
    const areCreated = async () => (await countPods(connection)) >= replicas
    const measurements: Measurement[] = []
    for (let round = 0; round < 2; round += 1) {
      measurements.push(await createReplicas(server, connection, areCreated))
      measurements.push(await collectReplicas(server, connection))
    }
    connection.close()
    return measurements
  },
}

const nodeNames = Array.from({ length: 1000 }, (_, index) => `bench-node-${index}`)

/** A thousand pods and a thousand nodes that only exist in the API: what the scheduler adds. */
export const scheduling: Benchmark = {
  name: 'scheduling',
  rows: [{ what: '1,000 pods created and scheduled onto 1,000 nodes, per pod', budget: ratio(0.1, 9.73e-3, 'CPU') }],
  rounds: 3,
  needsOwnServer: false,
  async measure(subject) {
    await using server = await subject.start(['--nodes', '0'])
    const connection = await Connection.open(server.target)
    await createNodes(connection, nodeNames)
    const scheduled = await createReplicas(
      server,
      connection,
      async () => (await countPods(connection)) >= replicas && !(await hasUnscheduledPods(connection)),
    )
    await connection.ask('DELETE', `${controllersPath}/${name}?propagationPolicy=Background`)
    await deleteNodes(connection, nodeNames)
    await until(async () => (await countPods(connection)) === 0)
    connection.close()
    return [scheduled]
  },
}

async function createReplicas(
  server: Server,
  connection: Connection,
  isDone: () => Promise<boolean>,
): Promise<Measurement> {
  return workOf(server, replicas, async () => {
    await connection.ask('POST', controllersPath, replicationController(name, replicas))
    await until(isDone)
  })
}

async function collectReplicas(server: Server, connection: Connection): Promise<Measurement> {
  return workOf(server, replicas, async () => {
    await connection.ask('DELETE', `${controllersPath}/${name}?propagationPolicy=Background`)
    await until(async () => (await countPods(connection)) === 0)
  })
}
