import { canonicalQuantity, isQuantity, type KubernetesObject, parseLabelSelector, quantityProblem } from '@coracle/api'
import { CliError } from '../../cli-error.ts'

export function generateNamespace(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, ...{ spec: {}, status: {} } }
}

export function generateServiceAccount(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }
}

export interface QuotaFlags {
  /** `cpu=1,pods=10` */
  readonly hard?: string
  /** `BestEffort,NotTerminating` */
  readonly scopes?: string
}

export function generateQuota(name: string, { hard, scopes }: QuotaFlags): KubernetesObject {
  const wanted = scopes === undefined || scopes === '' ? [] : scopes.split(',')
  if (wanted.includes('')) throw new CliError('invalid resource quota scope ""')
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name },
    ...{
      spec: {
        ...(hard === undefined || hard === '' ? {} : { hard: amountsOf(hard) }),
        ...(wanted.length === 0 ? {} : { scopes: wanted }),
      },
      status: {},
    },
  }
}

function amountsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', amount, ...more] = pair.split('=')
      if (amount === undefined || more.length > 0) {
        throw new CliError(`Invalid argument syntax ${pair}, expected <resource>=<value>`)
      }
      const problem = quantityProblem(amount)
      if (problem !== undefined) throw new CliError(problem)
      return [name, canonicalQuantity(amount)] as const
    }),
  )
}

export interface BudgetFlags {
  /** `app=web,tier in (a,b)` */
  readonly selector?: string
  readonly minAvailable?: string
  readonly maxUnavailable?: string
}

export function generateBudget(name: string, flags: BudgetFlags): KubernetesObject {
  const { selector = '', minAvailable = '', maxUnavailable = '' } = flags
  if (selector === '') throw new CliError('a selector must be specified')
  if (minAvailable !== '' && maxUnavailable !== '') {
    throw new CliError('min-available and max-unavailable cannot be both specified')
  }
  if (minAvailable === '' && maxUnavailable === '') {
    throw new CliError('one of min-available or max-unavailable must be specified')
  }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name },
    ...{
      spec: {
        ...(maxUnavailable === '' ? {} : { maxUnavailable: countOf(maxUnavailable, 'maxUnavailable') }),
        ...(minAvailable === '' ? {} : { minAvailable: countOf(minAvailable, 'minAvailable') }),
        selector: labelSelectorOf(selector),
      },
      status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
    },
  }
}

/** A number, or a percentage as text. */
function countOf(text: string, noun: string): number | string {
  if (/^\d+$/.test(text)) return Number(text)
  if (/^\d+%$/.test(text)) return text
  const flag = noun.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new CliError(`invalid format specified for ${flag}`)
}

const operators = { in: 'In', notin: 'NotIn' } as const

/** Throws a CliError where a text is no label selector. */
function requireSelector(text: string): void {
  try {
    parseLabelSelector(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new CliError(`couldn't parse the selector string ${JSON.stringify(text)}: ${reason}`)
  }
}

interface SelectorExpression {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

interface WrittenSelector {
  readonly matchExpressions?: readonly SelectorExpression[]
  readonly matchLabels?: Readonly<Record<string, string>>
}

/** `app=web,tier in (a,b)` as a selector of an object has it. Throws a CliError where the text is none. */
export function labelSelectorOf(text: string): WrittenSelector {
  requireSelector(text)
  if (text.trim() === '') return {}
  const labels: Record<string, string> = {}
  const expressions: SelectorExpression[] = []
  // Commas between parentheses part values, and not requirements.
  for (const requirement of text.split(/,(?![^(]*\))/).map((each) => each.trim())) {
    const [, setKey, operator, values] = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement) ?? []
    const [, key, sign, value = ''] = /^([^!=\s]+)\s*(==?|!=)\s*(.*)$/.exec(requirement) ?? []
    if (setKey !== undefined) {
      const list = (values ?? '').split(',').map((each) => each.trim())
      expressions.push({ key: setKey, operator: operators[operator as keyof typeof operators], values: list })
    } else if (sign === '!=') throw new CliError('"!=" is not a valid label selector operator')
    else if (key !== undefined) labels[key] = value
    else if (/^!\S+$/.test(requirement)) expressions.push({ key: requirement.slice(1), operator: 'DoesNotExist' })
    else if (/^[^!\s]+$/.test(requirement)) expressions.push({ key: requirement, operator: 'Exists' })
    else throw new CliError(`unable to parse requirement: ${requirement}`)
  }
  return {
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
    ...(Object.keys(labels).length === 0 ? {} : { matchLabels: labels }),
  }
}

export interface PriorityClassFlags {
  readonly value: number
  readonly globalDefault: boolean
  readonly description?: string
  readonly preemptionPolicy: string
}

export function generatePriorityClass(name: string, flags: PriorityClassFlags): KubernetesObject {
  const { value, globalDefault, description, preemptionPolicy } = flags
  return {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    ...{
      value,
      ...(globalDefault ? { globalDefault } : {}),
      ...(description === undefined ? {} : { description }),
      preemptionPolicy,
    },
  }
}

export interface AutoscalerFlags {
  readonly min?: number
  readonly max: number
  /** `80%`, or an amount such as `500m`. */
  readonly cpu?: string
  readonly memory?: string
  readonly name?: string
}

/** Throws a CliError, in kubectl's words, where flags do not make an autoscaler. */
export function checkAutoscaler(flags: AutoscalerFlags): void {
  const { min, max } = flags
  if (max < 1) {
    throw new CliError(`--max=MAXPODS is required and must be at least 1, max: ${max}`)
  }
  if (min !== undefined && min > max) {
    throw new CliError(`--max=MAXPODS must be larger or equal to --min=MINPODS, max: ${max}, min: ${min}`)
  }
  metricsOf(flags)
}

const metricsOf = ({ cpu, memory }: AutoscalerFlags): readonly object[] => [
  ...(cpu === undefined ? [] : [resourceMetric('cpu', cpu)]),
  ...(memory === undefined ? [] : [resourceMetric('memory', memory)]),
]

/** An autoscaler of an object that has a scale, as flags say that `checkAutoscaler` has let through. */
export function generateAutoscaler(
  target: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  flags: AutoscalerFlags,
): KubernetesObject {
  const { min, max, name } = flags
  const metrics = metricsOf(flags)
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: name ?? target.name },
    ...{
      spec: {
        maxReplicas: max,
        ...(metrics.length === 0 ? {} : { metrics }),
        ...(min === undefined ? {} : { minReplicas: min }),
        scaleTargetRef: target,
      },
      status: { currentMetrics: null, desiredReplicas: 0 },
    },
  }
}

/** What the API has room for. */
const percentMax = 2 ** 31 - 1

function resourceMetric(name: 'cpu' | 'memory', text: string): object {
  const input = text.trim()
  if (input.endsWith('%')) {
    const percent = input.slice(0, -1)
    if (!/^[-+]?\d+$/.test(percent) || Number(percent) < 0 || Number(percent) > percentMax)
      throw new CliError(`invalid percentage value: ${percent}`)
    return {
      resource: { name, target: { averageUtilization: Math.abs(Number(percent)), type: 'Utilization' } },
      type: 'Resource',
    }
  }
  return { resource: { name, target: { averageValue: amountOf(name, input), type: 'AverageValue' } }, type: 'Resource' }
}

const noQuantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/** An amount for each pod: a number alone is one of thousandths of a CPU, or of mebibytes. */
function amountOf(name: 'cpu' | 'memory', text: string): string {
  const isNumber = /^[-+]?(\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text)
  const amount = isNumber ? `${Number(text)}${name === 'cpu' ? 'm' : 'Mi'}` : text
  if (!isQuantity(amount)) throw new CliError(isNumber ? noQuantity : `invalid resource ${name} value: ${text}`)
  return canonicalQuantity(amount)
}

export interface IngressFlags {
  readonly class?: string
  /** `HOST/PATH=SERVICE:PORT[,tls[=SECRET]]` */
  readonly rule: readonly string[]
  /** `SERVICE:PORT` */
  readonly defaultBackend?: string
  readonly annotation: readonly string[]
}

export function generateIngress(name: string, flags: IngressFlags): KubernetesObject {
  if (flags.rule.length === 0 && flags.defaultBackend === undefined) {
    throw new CliError(
      'not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)',
    )
  }
  const parsed = flags.rule.map(parseRule)
  const annotations = flags.annotation.map((text) => {
    const at = text.indexOf('=')
    if (at < 0) throw new CliError(`annotation ${text} is invalid and should be in format key=[value]`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  const rules = new Map<string, object[]>()
  for (const { host, path } of parsed) rules.set(host, [...(rules.get(host) ?? []), path])
  const tls = hostsOfSecrets(parsed)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }) },
    ...{
      spec: {
        ...(flags.defaultBackend === undefined ? {} : { defaultBackend: backendOf(flags.defaultBackend) }),
        ...((flags.class ?? '') === '' ? {} : { ingressClassName: flags.class }),
        ...(rules.size === 0
          ? {}
          : { rules: [...rules].map(([host, paths]) => ({ ...(host === '' ? {} : { host }), http: { paths } })) }),
        ...(tls.size === 0
          ? {}
          : {
              tls: [...tls].map(([secretName, hosts]) => {
                return { ...(hosts.length === 0 ? {} : { hosts }), ...(secretName === '' ? {} : { secretName }) }
              }),
            }),
      },
      status: { loadBalancer: {} },
    },
  }
}

interface IngressRule {
  readonly host: string
  readonly path: object
  /** The secret of its host, empty for one that is not named; absent where it asks for no TLS. */
  readonly secret?: string
}

/** What follows the port, or the secret, is not looked at, as in kubectl. */
function parseRule(text: string): IngressRule {
  const [start = '', tls, ...more] = text.split(',')
  const [, host = '', path = '', backend = ''] = /^([^/]*)(\/[^=]*)=([^=:]+:[^=:]+)/.exec(start) ?? []
  if (backend === '' || !/^[\w*.-]*\/.*=[\w-]+:[\w-]+/.test(text))
    throw new CliError(`rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`)
  const isPrefix = path.endsWith('*')
  return {
    host,
    path: {
      backend: backendOf(backend),
      path: isPrefix ? path.slice(0, -1) : path,
      pathType: isPrefix ? 'Prefix' : 'Exact',
    },
    ...(tls === undefined || more.length > 0 ? {} : { secret: tls.split('=')[1] ?? '' }),
  }
}

/** The hosts that each secret is for: a host has but one, that of its first rule. */
function hostsOfSecrets(rules: readonly IngressRule[]): ReadonlyMap<string, readonly string[]> {
  const secrets = new Map<string, string[]>()
  const seen = new Set<string>()
  for (const { host, secret } of rules) {
    if (secret === undefined || seen.has(host)) continue
    seen.add(host)
    if (host === '' && secret === '') continue
    secrets.set(secret, [...(secrets.get(secret) ?? []), ...(host === '' ? [] : [host])])
  }
  return secrets
}

function backendOf(text: string): object {
  const [name = '', port, ...more] = text.split(':')
  if (port === undefined || more.length > 0) {
    throw new CliError('default-backend should be in format servicename:serviceport')
  }
  const number = Number(port)
  const isNumber = /^[-+]?\d+$/.test(port) && number === (number | 0)
  return { service: { name, port: isNumber ? { number } : port === '' ? {} : { name: port } } }
}
