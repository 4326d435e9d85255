import type { KubernetesObject } from '@coracle/api'
import type { KindRules, Rule } from '../facts.ts'
import { contention } from '../rules/contention.ts'
import { heldByFinalizers } from '../rules/deletion.ts'
import { notObserved } from '../rules/generation.ts'
import { unhealthyConditions } from '../rules/unhealthy-conditions.ts'
import { cronJobRules } from './cron-job.ts'
import { daemonSetRules } from './daemon-set.ts'
import { apiServiceRules, definitionRules, quotaRules } from './definitions.ts'
import { deploymentRules } from './deployment.ts'
import { autoscalerRules } from './horizontal-pod-autoscaler.ts'
import { ingressRules } from './ingress.ts'
import { jobRules } from './job.ts'
import { namespaceRules } from './namespace.ts'
import { nodeRules } from './node.ts'
import { podRules } from './pod/pod.ts'
import { budgetRules } from './pod-disruption-budget.ts'
import { replicaSetRules, replicationControllerRules } from './replicas.ts'
import { serviceRules } from './service.ts'
import { statefulSetRules } from './stateful-set.ts'
import { claimRules, volumeRules } from './volumes.ts'

/** What is asked of objects of every kind, first. */
export const rulesOfAll: readonly Rule[] = [heldByFinalizers, notObserved, contention]

const rulesByKind = {
  'apiextensions.k8s.io CustomResourceDefinition': definitionRules,
  'apiregistration.k8s.io APIService': apiServiceRules,
  'apps DaemonSet': daemonSetRules,
  'apps Deployment': deploymentRules,
  'apps ReplicaSet': replicaSetRules,
  'apps StatefulSet': statefulSetRules,
  'autoscaling HorizontalPodAutoscaler': autoscalerRules,
  'batch CronJob': cronJobRules,
  'batch Job': jobRules,
  'networking.k8s.io Ingress': ingressRules,
  'policy PodDisruptionBudget': budgetRules,
  ' Namespace': namespaceRules,
  ' Node': nodeRules,
  ' PersistentVolume': volumeRules,
  ' PersistentVolumeClaim': claimRules,
  ' Pod': podRules,
  ' ReplicationController': replicationControllerRules,
  ' ResourceQuota': quotaRules,
  ' Service': serviceRules,
} as const

/** Kinds of others: what their controllers say by custom. */
const otherRules: KindRules = { rules: [unhealthyConditions] }

/** How objects of a kind are explained. */
export function rulesOf({ apiVersion, kind }: Pick<KubernetesObject, 'apiVersion' | 'kind'>): KindRules {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  const rules: Readonly<Record<string, unknown>> = rulesByKind
  return (rules[`${group} ${kind}`] as KindRules | undefined) ?? otherRules
}
