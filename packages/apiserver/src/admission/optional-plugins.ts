import type { Registries } from '../registries.ts'
import type { Authorizer } from '../request.ts'
import type { AdmissionPlugin } from './admission.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { podNodeSelector } from './pod-node-selector.ts'
import { podTolerationRestriction } from './pod-toleration-restriction.ts'

/** The plugins that are off by default, in no order. */
export const optionalPlugins = (registries: Registries, authorizer: Authorizer): readonly AdmissionPlugin[] => [
  alwaysAdmit,
  alwaysDeny,
  alwaysPullImages,
  denyServiceExternalIps,
  extendedResourceToleration,
  limitPodHardAntiAffinityTopology,
  namespaceAutoProvision(registries),
  namespaceExists(registries),
  ownerReferencesPermissionEnforcement(registries, authorizer),
  podNodeSelector(registries),
  podTolerationRestriction(registries),
]
