import { replicaSets } from '@coracle/api'
import type { Controller } from '@coracle/controller-runtime'
import { replicasController } from '../replicas/controller.ts'
import { desiredReplicas, planReplicaSet } from './plan.ts'

/** Keeps the pods of replica sets. */
export function createReplicaSetController(): Controller {
  return replicasController({
    name: 'replicaset-controller',
    component: 'replicaset-controller',
    resource: replicaSets,
    desired: desiredReplicas,
    plan: planReplicaSet,
  })
}
