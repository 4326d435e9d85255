import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { priority } from './priority.ts'
import { serviceAccount } from './service-account.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import type { AdmissionWebhooks } from './webhooks/admission-webhooks.ts'

/** What upstream turns on by default, as far as it concerns the kinds there are, in upstream's order. */
export function builtInAdmission(registries: Registries, webhooks: AdmissionWebhooks): readonly AdmissionPlugin[] {
  return [
    namespaceLifecycle(registries),
    serviceAccount,
    nodeRestriction(registries),
    taintNodesByCondition,
    priority(registries),
    defaultTolerationSeconds,
    webhooks.mutating,
    webhooks.validating,
  ]
}
