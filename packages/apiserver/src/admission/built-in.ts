import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { Authorizer } from '../request.ts'
import type { AdmissionPlugin } from './admission.ts'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts'
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { jobDependencies } from './job-dependencies.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { mutatingPolicies } from './policies/mutating-policies.ts'
import { validatingPolicies } from './policies/validating-policies.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account/service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import type { AdmissionWebhooks } from './webhooks/admission-webhooks.ts'

/** What upstream turns on by default, as far as it concerns the kinds there are, in upstream's order. */
export function builtInAdmission(
  registries: Registries,
  authorizer: Authorizer,
  webhooks: AdmissionWebhooks,
  clock: Clock,
): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle(registries),
    limitRanger(registries),
    serviceAccount(registries, clock),
    nodeRestriction(registries),
    taintNodesByCondition,
    podSecurity(registries, clock),
    priority(registries),
    defaultTolerationSeconds,
    defaultStorageClass(registries),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(registries),
    runtimeClass(registries),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(registries),
    podTopologyLabels(registries),
    jobDependencies(registries),
    mutatingPolicies(registries, authorizer),
    webhooks.mutating,
    validatingPolicies(registries, authorizer),
    webhooks.validating,
    resourceQuota(registries, clock),
  ]
}
