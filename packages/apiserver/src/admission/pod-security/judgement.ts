/** Loaded with the first namespace that has labels about it. */
import {
  describeFieldError,
  invalid,
  type KubernetesObject,
  type Namespace,
  type Pod,
  type PodTemplateSpec,
  pods,
} from '@coracle/api'
import {
  enforcesMore,
  type LevelVersion,
  levelText,
  type NamespacePolicy,
  namespacePolicy,
  podSecurityPrefix,
  podViolations,
  violationDetails,
} from '@coracle/api/pod-security'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { aggregated, forbiddenByAdmission } from '../forbidden.ts'
import { storedObjects } from '../stored-objects.ts'
import { warningsOfExistingPods } from './existing-pods.ts'
import type { PodSecurityMetrics } from './pod-security-metrics.ts'

/** Refuses labels that cannot be read, and warns of pods that are there and would be refused now. */
export function judgeNamespace(
  registries: Registries,
  clock: Clock,
  { definition, old, context }: AdmissionAttributes,
  namespace: KubernetesObject,
): void {
  const { name = '', labels } = namespace.metadata
  const { policy, errors } = namespacePolicy(labels)
  const before = old === undefined ? undefined : namespacePolicy(old.metadata.labels)
  if (errors.length > 0 && textOf(errors) !== textOf(before?.errors ?? [])) throw invalid(definition, name, errors)
  if (before === undefined || context.warn === undefined || !enforcesMore(policy, before.policy)) return
  const existing = storedObjects(registries, pods, name)
  for (const warning of warningsOfExistingPods(name, existing, policy.enforce, clock)) context.warn(warning)
}

/** Refuses a pod that violates what its namespace enforces, and tells of what it would violate; of what makes pods it only tells. */
export function judgePods(
  namespace: Namespace,
  attributes: AdmissionAttributes,
  object: KubernetesObject,
  metrics?: PodSecurityMetrics,
): void {
  const { definition, old, context } = attributes
  const isPod = definition.plural === 'pods'
  const { policy, errors } = namespacePolicy(namespace.metadata.labels)
  const { enforce, audit, warn } = policy
  const asksNothing = errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged'
  const isUnasked = isPod && asksNothing && enforce.level === 'privileged'
  if (isUnasked) metrics?.allowedUnasked(attributes)
  const tally = isUnasked ? undefined : metrics
  if (isPod && old !== undefined && !changesImages(object as Pod, old as Pod)) return
  if (!isPod && asksNothing) return
  const template = isPod ? (object as Pod) : templateOf(object)
  if (template === undefined) return
  const note = (name: string, text: string): void => context.annotate?.(podSecurityPrefix + name, text)
  const judge = new Judgement(template)
  if (errors.length > 0) {
    note('error', `Failed to parse policy: ${aggregated(errors.map(describeFieldError))}`)
    tally?.failed(false, attributes)
  }
  if (isPod) note('enforce-policy', levelText(enforce))
  const refused = isPod ? judge.violationsOf(enforce) : ''
  if (isPod) tally?.evaluated(refused === '', enforce, 'enforce', attributes)
  if (context.annotate !== undefined || tally !== undefined) {
    const audited = judge.violationsOf(audit)
    if (audited !== '') {
      note('audit-violations', wouldViolate(audit, audited))
      tally?.evaluated(false, audit, 'audit', attributes)
    }
  }
  if (refused !== '') {
    throw forbiddenByAdmission(attributes, object, `violates PodSecurity "${levelText(enforce)}": ${refused}`)
  }
  if (context.warn === undefined && tally === undefined) return
  const warned = judge.violationsOf(warn)
  if (warned === '') return
  context.warn?.(wouldViolate(warn, warned))
  tally?.evaluated(false, warn, 'warn', attributes)
}

/** One pod or template, judged once by each level that is asked about. */
class Judgement {
  readonly #pod: Parameters<typeof podViolations>[1]
  readonly #known = new Map<string, string>()

  constructor({ metadata, spec }: Template) {
    this.#pod = { annotations: metadata?.annotations ?? {}, spec }
  }

  /** What is violated, as text; empty where nothing is. */
  violationsOf(level: LevelVersion): string {
    const key = levelText(level)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const details = violationDetails(podViolations(level, this.#pod))
    this.#known.set(key, details)
    return details
  }
}

type Template = Pick<PodTemplateSpec, 'metadata' | 'spec'>

/** The template of the pods that an object makes. */
function templateOf(object: KubernetesObject): Template | undefined {
  const { template, spec } = object as {
    readonly template?: Template
    readonly spec?: { readonly template?: Template; readonly jobTemplate?: { readonly spec?: { template?: Template } } }
  }
  return template ?? spec?.template ?? spec?.jobTemplate?.spec?.template
}

/** Of what a pod may be changed in, only images and further containers are judged. */
function changesImages({ spec }: Pod, { spec: old }: Pod): boolean {
  const lists = ['containers', 'initContainers'] as const
  if (lists.some((list) => !sameImages(spec[list] ?? [], old[list] ?? []))) return true
  const debugging = old.ephemeralContainers ?? []
  return (spec.ephemeralContainers ?? []).some(
    ({ name, image }) => !debugging.some((known) => known.name === name && known.image === image),
  )
}

type WithImage = { readonly image?: string | undefined }

function sameImages(containers: readonly WithImage[], old: readonly WithImage[]): boolean {
  return containers.length === old.length && containers.every(({ image }, index) => image === old[index]?.image)
}

function wouldViolate(level: LevelVersion, details: string): string {
  return `would violate PodSecurity "${levelText(level)}": ${details}`
}

type Errors = NamespacePolicy['errors']

const textOf = (errors: Errors): string => errors.map(describeFieldError).join('\n')
