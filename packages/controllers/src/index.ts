/** The built-in controllers: one folder each, a pure plan and the shell that carries it out. */
export { type BuiltinController, builtinControllers, type ControllerHost } from './builtin-controllers.ts'
export type { WantedCertificate } from './certificate-signing-request/plan-signing.ts'
export { createCustomResourceDefinitionController } from './custom-resource-definition/controller.ts'
export { createDeploymentController } from './deployment/controller.ts'
export { planDeployment } from './deployment/plan.ts'
export {
  createGarbageCollector,
  type GarbageCollector,
  type GarbageCollectorOptions,
} from './garbage-collector/garbage-collector.ts'
export type { ScaledLoad } from './horizontal-pod-autoscaler/controller.ts'
export { loadWhatControllersNeedLater } from './load-when-needed.ts'
export { createLocalPathProvisioner } from './local-path-provisioner/controller.ts'
export {
  type LocalVolumes,
  localPathProvisioner,
  localPathProvisionerIdentity,
} from './local-path-provisioner/provisioner.ts'
export { createNamespaceController } from './namespace/controller.ts'
export { createNodeLifecycleController } from './node-lifecycle/controller.ts'
export { createPodGarbageCollector } from './pod-gc/controller.ts'
export { createReplicaSetController } from './replica-set/controller.ts'
export { planReplicaSet } from './replica-set/plan.ts'
export { createReplicationController } from './replication-controller/controller.ts'
export { planReplicationController } from './replication-controller/plan.ts'
export { createServiceAccountController } from './service-account/controller.ts'
export { hasAddressesOfNodes } from './service-lb/balanced.ts'
