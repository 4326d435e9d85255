import { replicationControllers } from '@coracle/api'
import type { Controller } from '@coracle/controller-runtime'
import { replicasController } from '../replicas/controller.ts'
import { desiredReplicas, planReplicationController } from './plan.ts'

/** Keeps the pods of replication controllers. */
export function createReplicationController(): Controller {
  return replicasController({
    name: 'replication-controller',
    component: 'replication-controller',
    resource: replicationControllers,
    desired: desiredReplicas,
    plan: planReplicationController,
  })
}
