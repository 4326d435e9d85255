import { type FieldError, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import {
  isStricter,
  type LevelVersion,
  type PodSecurityLevel,
  type PodSecurityVersion,
  parseLevel,
  parseVersion,
  podSecurityLevels,
  sameLevelVersion,
} from './level.ts'

/** What begins all labels of namespaces, and annotations for the audit log, that are about the security of pods. */
export const podSecurityPrefix = 'pod-security.kubernetes.io/'

/** What the labels of a namespace say of its pods. */
export interface PodSecurityPolicy {
  /** Pods that violate it are refused. */
  readonly enforce: LevelVersion
  /** Violations are noted in the audit log. */
  readonly audit: LevelVersion
  /** Whoever asks is warned of violations. */
  readonly warn: LevelVersion
}

export interface NamespacePolicy {
  readonly policy: PodSecurityPolicy
  /** Labels that cannot be read. The policy is then as strict as can be where it refuses, and as loose where it only tells. */
  readonly errors: readonly FieldError[]
}

/**
 * What the labels of a namespace say, as upstream's PolicyToEvaluate reads them. Where nothing is said a pod may do everything; what is
 * enforced is also warned of unless the labels say how much is.
 */
export function namespacePolicy(labels: Readonly<Record<string, string>> | undefined): NamespacePolicy {
  const reader = new LabelReader(labels ?? {})
  const enforce = reader.level('enforce', 'restricted')
  const enforceVersion = reader.version('enforce')
  const audit = {
    level: reader.level('audit', 'privileged') ?? 'privileged',
    version: reader.version('audit') ?? 'latest',
  }
  const ownWarn = reader.level('warn', 'privileged')
  const warnVersion = reader.version('warn')
  const { errors } = reader
  const enforced: LevelVersion = { level: enforce ?? 'privileged', version: enforceVersion ?? 'latest' }
  const warnsAsEnforced = ownWarn === undefined && reader.isLevel('enforce') && isStricter(enforced.level, 'privileged')
  const warn: LevelVersion = {
    level: warnsAsEnforced ? enforced.level : (ownWarn ?? 'privileged'),
    version: warnVersion ?? (warnsAsEnforced ? enforced.version : 'latest'),
  }
  return { policy: { enforce: enforced, audit, warn }, errors }
}

/** Whether a change of a policy can make pods violate it that did not: only then are those that are there looked at. */
export function enforcesMore(policy: PodSecurityPolicy, old: PodSecurityPolicy): boolean {
  const { enforce } = policy
  if (enforce.level === 'privileged' || sameLevelVersion(enforce, old.enforce)) return false
  return enforce.version !== old.enforce.version || isStricter(enforce.level, old.enforce.level)
}

type Mode = keyof PodSecurityPolicy

const labelsPath = FieldPath.of('metadata', 'labels')

/** Reads labels one by one and collects what is wrong with them, in the order they are read. */
class LabelReader {
  readonly #labels: Readonly<Record<string, string>>
  readonly errors: FieldError[] = []

  constructor(labels: Readonly<Record<string, string>>) {
    this.#labels = labels
  }

  isLevel(mode: Mode): boolean {
    return parseLevel(this.#labels[podSecurityPrefix + mode] ?? '') !== undefined
  }

  /** Undefined where there is no such label, and `otherwise` where it names no level. */
  level(mode: Mode, otherwise: PodSecurityLevel): PodSecurityLevel | undefined {
    return this.#read(mode, parseLevel, otherwise, `must be one of ${podSecurityLevels.join(', ')}`)
  }

  version(mode: Mode): PodSecurityVersion | undefined {
    return this.#read(`${mode}-version`, parseVersion, 'latest', 'must be "latest" or "v1.x"')
  }

  #read<T>(name: string, parse: (text: string) => T | undefined, otherwise: T, problem: string): T | undefined {
    const label = podSecurityPrefix + name
    const text = this.#labels[label]
    if (text === undefined) return undefined
    const value = parse(text)
    if (value !== undefined) return value
    this.errors.push(invalidField(labelsPath.key(label), text, problem))
    return otherwise
  }
}
