import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { Authorizer } from '../request.ts'
import type { WorkTurns } from '../work-turns.ts'
import type { AdmissionPlugin } from './admission.ts'
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts'
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import type { OptionalPlugin } from './enabled-plugins.ts'
import { jobDependencies } from './job-dependencies.ts'
import { limitRanger } from './limit-ranger.ts'
import { loadedWhenUsed } from './loaded-when-used.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeDeclaredFeatureValidator } from './node-declared-features.ts'
import { nodeRestriction } from './node-restriction.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { podResize } from './pod-resize.ts'
import { podSecurity } from './pod-security/pod-security.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { mutatingPolicies } from './policies/mutating-policies.ts'
import { validatingPolicies } from './policies/validating-policies.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount, type TokenVolumes } from './service-account/service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import type { AdmissionWebhooks } from './webhooks/admission-webhooks.ts'

/**
 * Upstream's plugins, as far as they concern the kinds there are, in upstream's order; `pluginsInUse` says which of them are on by
 * default.
 */
export function builtInAdmission(
  registries: Registries,
  authorizer: Authorizer,
  webhooks: AdmissionWebhooks,
  clock: Clock,
  turns: WorkTurns,
  tokenVolumes?: TokenVolumes,
  metrics?: MetricsRegistry,
): readonly AdmissionPlugin[] {
  const loadOptional = async () => (await import('./optional-plugins.ts')).optionalPlugins(registries, authorizer)
  const optional = (name: OptionalPlugin) => loadedWhenUsed(name, loadOptional, clock)
  return [
    optional('AlwaysAdmit'),
    optional('NamespaceAutoProvision'),
    namespaceLifecycle(registries),
    optional('NamespaceExists'),
    optional('LimitPodHardAntiAffinityTopology'),
    limitRanger(registries, clock),
    serviceAccount(registries, clock, tokenVolumes),
    nodeRestriction(registries, authorizer),
    taintNodesByCondition,
    optional('AlwaysPullImages'),
    podSecurity(registries, clock, metrics),
    optional('PodNodeSelector'),
    priority(registries),
    defaultTolerationSeconds,
    optional('PodTolerationRestriction'),
    optional('ExtendedResourceToleration'),
    defaultStorageClass(registries),
    storageObjectInUseProtection,
    optional('OwnerReferencesPermissionEnforcement'),
    persistentVolumeClaimResize(registries),
    runtimeClass(registries),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass(registries),
    optional('DenyServiceExternalIPs'),
    podTopologyLabels(registries),
    nodeDeclaredFeatureValidator(registries),
    jobDependencies(registries),
    podResize(registries),
    mutatingPolicies(registries, authorizer, turns, clock),
    webhooks.mutating,
    validatingPolicies(registries, authorizer, turns, clock),
    webhooks.validating,
    resourceQuota(registries, clock),
    optional('AlwaysDeny'),
  ]
}
