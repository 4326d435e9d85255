import type { Resource } from '@coracle/api'
import type { Client, DiscoveredResource } from '@coracle/client'
import type { ActionRecord, Controller, Manager } from '@coracle/controller-runtime'
import type { Environment, MetricsRegistry } from '@coracle/environment'
import { createAttachDetachController } from './attach-detach/controller.ts'
import { createBootstrapSigner } from './bootstrap-signer/controller.ts'
import {
  createCertificateApprover,
  createCertificateRequestCleaner,
  createCertificateSigner,
  createServingCertificateApprover,
} from './certificate-signing-request/controller.ts'
import type { WantedCertificate } from './certificate-signing-request/plan-signing.ts'
import { createClusterRoleAggregationController } from './cluster-role-aggregation/controller.ts'
import { createCronJobController } from './cron-job/controller.ts'
import { createCustomResourceDefinitionController } from './custom-resource-definition/controller.ts'
import { createDaemonSetController } from './daemon-set/controller.ts'
import { createDeploymentController } from './deployment/controller.ts'
import { createDeviceTaintEvictionController } from './device-taint-eviction/controller.ts'
import { createDisruptionController } from './disruption/controller.ts'
import { createEndpointSliceController } from './endpoint-slice/controller.ts'
import { createEndpointSliceMirroringController } from './endpoint-slice-mirroring/controller.ts'
import { createEndpointsController } from './endpoints/controller.ts'
import { createEphemeralVolumeController } from './ephemeral-volume/controller.ts'
import { createGarbageCollector, type GarbageCollector } from './garbage-collector/garbage-collector.ts'
import { createHorizontalPodAutoscalerController, type ScaledLoad } from './horizontal-pod-autoscaler/controller.ts'
import { createJobController } from './job/controller.ts'
import { createLegacyTokenCleaner } from './legacy-token-cleaner/controller.ts'
import { createNamespaceController } from './namespace/controller.ts'
import { createNodeLifecycleController } from './node-lifecycle/controller.ts'
import { createVolumeBinder } from './persistent-volume-binder/controller.ts'
import { createClaimProtectionController } from './persistent-volume-claim-protection/controller.ts'
import { createVolumePhaseController } from './persistent-volume-phase/controller.ts'
import { createVolumeProtectionController } from './persistent-volume-protection/controller.ts'
import { createPodGarbageCollector } from './pod-gc/controller.ts'
import { createReplicaSetController } from './replica-set/controller.ts'
import { createReplicationController } from './replication-controller/controller.ts'
import { createPodClaimController, createResourceClaimController } from './resource-claim/controller.ts'
import { createResourceQuotaController } from './resource-quota/controller.ts'
import { createRootCaPublisher } from './root-ca/controller.ts'
import { createServiceAccountController } from './service-account/controller.ts'
import { createServiceAccountTokenController, type WantedToken } from './service-account-token/controller.ts'
import { createServiceCidrController } from './service-cidr/controller.ts'
import { createServiceLbController } from './service-lb/controller.ts'
import { createStatefulSetController } from './stateful-set/controller.ts'
import { createTokenCleaner } from './token-cleaner/controller.ts'
import { createTtlAfterFinishedController } from './ttl-after-finished/controller.ts'
import { createPolicyTypeChecker } from './validating-admission-policy-status/controller.ts'
import { createAttributesClassProtectionController } from './volume-attributes-class-protection/controller.ts'
import { createVolumeExpansionController } from './volume-expansion/controller.ts'

/** What controllers get from whoever runs them. */
export interface ControllerHost {
  /** A client that acts as the controller's identity. */
  readonly client: Client
  readonly environment: Environment
  /** The shared informer of a resource, as a manager gives it. */
  readonly informer: Manager['informer']
  /**
   * The resources the API serves now that can be listed, watched and deleted, by servers behind it too, as far as that is known: one version of
   * each.
   */
  readonly resources: () => readonly Resource[]
  /** Those of them that the API server serves itself: their caches can always be filled. The same unless given. */
  readonly ownResources?: () => readonly Resource[]
  /** Calls `listener` whenever `resources` gives others, until the returned function is called. Absent: it never does. */
  readonly onResourcesChange?: (listener: () => void) => () => void
  /** All that the API serves now, by other servers behind it too. Absent: there are none. */
  readonly discover?: () => Promise<readonly DiscoveredResource[]>
  /** The certificate authority of the API server, as PEM, for namespaces to have; none where it serves no TLS. */
  readonly rootCertificate?: string | undefined
  /** Makes certificates, in PEM, in the name of that authority; none where there is none. */
  readonly issueCertificate?: ((wanted: WantedCertificate) => string) | undefined
  /** The names and addresses of the API server, which no node may have a certificate for. */
  readonly serverNames?: readonly string[] | undefined
  /** Makes tokens of service accounts for Secrets to keep; none where nothing signs them. */
  readonly issueToken?: ((wanted: WantedToken) => Promise<string>) | undefined
  /** How much there is to do for what is scaled: see `ScaledLoad`; `measured` unless given. */
  readonly load?: ScaledLoad
  /** Which addresses services of type LoadBalancer get: those of `nodes`, or, unless given, none. */
  readonly loadBalancerAddresses?: 'nodes' | undefined
  /** Where the garbage collector's metrics go; controllers of a manager have the manager's. */
  readonly metrics?: MetricsRegistry
  /** Told of everything that the garbage collector does; controllers of a manager report through the manager. */
  readonly onAction?: (record: ActionRecord) => void
}

interface Builtin {
  /** The controller's name, which is that of its service account in kube-system too, unless it shares one. */
  readonly name: string
  /** The user it acts as. */
  readonly identity: string
}

/** A controller that is part of every cluster: one that a manager runs, or one that is started and stopped by itself. */
export type BuiltinController = Builtin &
  (
    | { readonly runs: 'in-manager'; create(host: ControllerHost): Controller }
    | { readonly runs: 'alone'; create(host: ControllerHost): GarbageCollector }
  )

/** All built-in controllers. */
export const builtinControllers: readonly BuiltinController[] = [
  inManager('replication-controller', createReplicationController),
  inManager('replicaset-controller', createReplicaSetController),
  inManager('deployment-controller', createDeploymentController),
  inManager('daemon-set-controller', createDaemonSetController),
  inManager('statefulset-controller', createStatefulSetController),
  inManager('job-controller', createJobController),
  inManager('cronjob-controller', createCronJobController),
  inManager('ttl-after-finished-controller', createTtlAfterFinishedController),
  {
    ...named('generic-garbage-collector'),
    runs: 'alone',
    create: (host) => createGarbageCollector(host),
  },
  // It asks other servers itself, when there is something to be emptied.
  inManager('namespace-controller', ({ ownResources, ...host }) =>
    createNamespaceController({ ...host, resources: ownResources ?? host.resources }),
  ),
  inManager('service-account-controller', createServiceAccountController),
  // As upstream it is the controller manager itself, and no account whose token it could make.
  {
    name: 'serviceaccount-token-controller',
    identity: 'system:kube-controller-manager',
    runs: 'in-manager',
    create: createServiceAccountTokenController,
  },
  {
    ...named('legacy-serviceaccount-token-cleaner-controller', 'legacy-service-account-token-cleaner'),
    runs: 'in-manager',
    create: createLegacyTokenCleaner,
  },
  inManager('root-ca-cert-publisher', createRootCaPublisher),
  inManager('node-controller', createNodeLifecycleController),
  inManager('pod-garbage-collector', createPodGarbageCollector),
  inManager('horizontal-pod-autoscaler', createHorizontalPodAutoscalerController),
  inManager('disruption-controller', createDisruptionController),
  inManager('endpointslice-controller', createEndpointSliceController),
  inManager('endpointslicemirroring-controller', createEndpointSliceMirroringController),
  inManager('endpoint-controller', createEndpointsController),
  inManager('clusterrole-aggregation-controller', createClusterRoleAggregationController),
  inManager('service-cidrs-controller', createServiceCidrController),
  {
    ...named('service-lb-controller', 'service-controller'),
    runs: 'in-manager',
    create: ({ loadBalancerAddresses }) => createServiceLbController(loadBalancerAddresses),
  },
  inManager('resourcequota-controller', createResourceQuotaController),
  inManager('persistent-volume-binder', createVolumeBinder),
  // Upstream's binder does both: its service account stands for both.
  {
    ...named('persistent-volume-phase', 'persistent-volume-binder'),
    runs: 'in-manager',
    create: createVolumePhaseController,
  },
  inManager('attachdetach-controller', createAttachDetachController),
  inManager('ephemeral-volume-controller', createEphemeralVolumeController),
  inManager('resource-claim-controller', createResourceClaimController),
  // Upstream's controller does both: its service account stands for both.
  {
    ...named('resource-claim-templates', 'resource-claim-controller'),
    runs: 'in-manager',
    create: createPodClaimController,
  },
  inManager('device-taint-eviction-controller', createDeviceTaintEvictionController),
  inManager('expand-controller', createVolumeExpansionController),
  inManager('pvc-protection-controller', createClaimProtectionController),
  inManager('pv-protection-controller', createVolumeProtectionController),
  inManager('volumeattributesclass-protection-controller', createAttributesClassProtectionController),
  {
    ...named('validatingadmissionpolicy-status', 'validatingadmissionpolicy-status-controller'),
    runs: 'in-manager',
    create: createPolicyTypeChecker,
  },
  inManager('custom-resource-definition', createCustomResourceDefinitionController),
  ofCertificates('certificatesigningrequest-approving-controller', createCertificateApprover),
  ofCertificates('kubelet-serving-approving-controller', createServingCertificateApprover),
  ofCertificates('certificatesigningrequest-signing-controller', createCertificateSigner),
  ofCertificates('certificatesigningrequest-cleaner-controller', createCertificateRequestCleaner),
  { ...named('bootstrap-signer-controller', 'bootstrap-signer'), runs: 'in-manager', create: createBootstrapSigner },
  { ...named('token-cleaner-controller', 'token-cleaner'), runs: 'in-manager', create: createTokenCleaner },
]

function inManager(name: string, create: (host: ControllerHost) => Controller): BuiltinController {
  return { ...named(name), runs: 'in-manager', create }
}

/** One service account stands for all controllers of certificates, as upstream. */
function ofCertificates(name: string, create: (host: ControllerHost) => Controller): BuiltinController {
  return { ...named(name, 'certificate-controller'), runs: 'in-manager', create }
}

function named(name: string, serviceAccount = name): Builtin {
  return { name, identity: `system:serviceaccount:kube-system:${serviceAccount}` }
}
