import { kubernetesVersion } from '@coracle/api'
import type { LevelVersion } from '@coracle/api/pod-security'
import type { Counter, Metric, MetricsRegistry } from '@coracle/environment'
import type { AdmissionTarget } from '../admission.ts'

/** What a policy is asked for: to refuse, to note in the audit log, to warn. */
export type PodSecurityMode = 'enforce' | 'audit' | 'warn'

const requestLabels = ['request_operation', 'resource', 'subresource'] as const
type RequestLabel = (typeof requestLabels)[number]
type EvaluationLabel = RequestLabel | 'decision' | 'policy_level' | 'policy_version' | 'mode'

const newestMinor = Number(kubernetesVersion.split('.')[1])

/** What of pods the Pod Security Standards were asked about, under upstream's names (pod-security-admission, metrics). */
export class PodSecurityMetrics {
  readonly #evaluations: Metric<EvaluationLabel, Counter>
  readonly #errors: Metric<RequestLabel | 'fatal', Counter>
  /** Of those that nearly all are: of pods in namespaces that ask for nothing. */
  readonly #privileged: Readonly<Record<'create' | 'update', Counter>>

  constructor(metrics: MetricsRegistry) {
    this.#evaluations = metrics.counter({
      name: 'pod_security_evaluations_total',
      help: 'Evaluations of pods and what makes pods by a policy, without requests that none concerns.',
      labels: ['decision', 'policy_level', 'policy_version', 'mode', ...requestLabels],
    })
    this.#errors = metrics.counter({
      name: 'pod_security_errors_total',
      help: 'Errors that kept a policy from being evaluated as its namespace has it. Those that are not fatal had another one evaluated.',
      labels: ['fatal', ...requestLabels],
    })
    const privileged = (request_operation: string): Counter =>
      this.#evaluations.with({
        decision: 'allow',
        policy_level: 'privileged',
        policy_version: 'latest',
        mode: 'enforce',
        request_operation,
        resource: 'pod',
        subresource: '',
      })
    this.#privileged = { create: privileged('create'), update: privileged('update') }
    // Nobody is exempt here.
    const exemptions = metrics.counter({
      name: 'pod_security_exemptions_total',
      help: 'Requests that no policy concerns as their user, namespace or runtime class is exempt.',
      labels: requestLabels,
    })
    for (const resource of ['pod', 'controller'])
      for (const request_operation of ['create', 'update'])
        exemptions.with({ request_operation, resource, subresource: '' }).inc(0)
  }

  /** A pod of a namespace that asks for nothing. */
  allowedUnasked(target: AdmissionTarget): void {
    if (target.subresource === '') this.#privileged[target.operation === 'CREATE' ? 'create' : 'update'].inc()
    else this.evaluated(true, { level: 'privileged', version: 'latest' }, 'enforce', target)
  }

  evaluated(isAllowed: boolean, policy: LevelVersion, mode: PodSecurityMode, target: AdmissionTarget): void {
    this.#evaluations
      .with({
        decision: isAllowed ? 'allow' : 'deny',
        policy_level: policy.level,
        policy_version: versionOf(policy),
        mode,
        ...requestOf(target),
      })
      .inc()
  }

  failed(isFatal: boolean, target: AdmissionTarget): void {
    this.#errors.with({ fatal: String(isFatal), ...requestOf(target) }).inc()
  }
}

/** Versions to come are told as one. What is privileged is so in every version. */
function versionOf({ level, version }: LevelVersion): string {
  if (level === 'privileged' || version === 'latest') return 'latest'
  return version > newestMinor ? 'future' : `v1.${version}`
}

const requestOf = ({
  operation,
  definition,
  subresource,
}: AdmissionTarget): Readonly<Record<RequestLabel, string>> => ({
  request_operation: operation.toLowerCase(),
  resource: definition.plural === 'pods' ? 'pod' : 'controller',
  subresource,
})
