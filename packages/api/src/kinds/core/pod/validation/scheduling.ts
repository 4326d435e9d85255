import {
  addErrors,
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { checkFormat } from '../../../../string-formats.ts'
import type { LabelSelector, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../../common.ts'
import type { Affinity, PodAffinityTerm, WeightedPodAffinityTerm } from '../affinity.ts'
import type { PodReadinessGate, PodSchedulingGate, Toleration, TopologySpreadConstraint } from '../scheduling.ts'
import { checkLabelSelector, checkOperatorValues, checkText, checkTextOrEmpty } from './checks.ts'

export function validateAffinity(affinity: Affinity | undefined, path: FieldPath): FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {}
  return [
    ...(nodeAffinity ? validateNodeAffinity(nodeAffinity, path.field('nodeAffinity')) : []),
    ...(podAffinity ? validatePodTerms(podAffinity, path.field('podAffinity')) : []),
    ...(podAntiAffinity ? validatePodTerms(podAntiAffinity, path.field('podAntiAffinity')) : []),
  ]
}

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution'

function validateNodeAffinity(affinity: NonNullable<Affinity['nodeAffinity']>, path: FieldPath): FieldError[] {
  const needed = affinity[requiredTerms]
  const preferred = affinity[preferredTerms] ?? []
  return [
    ...(needed ? validateNodeSelector(needed, path.field(requiredTerms)) : []),
    ...preferred.flatMap(({ weight, preference }, index) => [
      ...validateWeight(weight, path.field(preferredTerms).index(index)),
      ...validateNodeTerm(preference, path.field(preferredTerms).index(index).field('preference')),
    ]),
  ]
}

/** core/validation ValidateNodeSelector. */
export function validateNodeSelector(selector: NodeSelector, path: FieldPath): FieldError[] {
  const terms = selector.nodeSelectorTerms
  const termsPath = path.field('nodeSelectorTerms')
  if (terms.length === 0) return [requiredField(termsPath, 'must have at least one node selector term')]
  return terms.flatMap((term, index) => [
    ...validateNodeTerm(term, termsPath.index(index)),
    ...validateNodeLabelValues(term, termsPath.index(index).field('matchExpressions')),
  ])
}

/** Only nodes that are required are held to label values: preferred ones have never been. */
function validateNodeLabelValues({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath): FieldError[] {
  return matchExpressions.flatMap(({ values = [] }, index) =>
    values.flatMap((value, at) => checkText('label-value', value, path.index(index).field('values').index(at))),
  )
}

function validateNodeTerm(term: NodeSelectorTerm, path: FieldPath): FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((each, index) =>
      validateNodeLabel(each, path.field('matchExpressions').index(index)),
    ),
    ...(term.matchFields ?? []).flatMap((each, index) =>
      validateNodeField(each, path.field('matchFields').index(index)),
    ),
  ]
}

function validateNodeLabel({ key, operator, values = [] }: NodeSelectorRequirement, path: FieldPath): FieldError[] {
  return [...nodeOperatorErrors(operator, values, path), ...checkTextOrEmpty('qualified-name', key, path.field('key'))]
}

function nodeOperatorErrors(operator: string, values: readonly string[], path: FieldPath): FieldError[] {
  if (operator !== 'Gt' && operator !== 'Lt') return checkOperatorValues(operator, values, path)
  if (values.length === 1) return []
  return [requiredField(path.field('values'), "must be specified single value when `operator` is 'Lt' or 'Gt'")]
}

function validateNodeField({ key, operator, values = [] }: NodeSelectorRequirement, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (operator === 'In' || operator === 'NotIn') {
    const rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    if (values.length !== 1) errors.push(requiredField(path.field('values'), rule))
  } else {
    errors.push(invalidField(path.field('operator'), operator, 'not a valid selector operator'))
  }
  if (key !== 'metadata.name')
    return [...errors, invalidField(path.field('key'), key, 'not a valid field selector key')]
  const names = values.flatMap((name, index) =>
    checkTextOrEmpty('dns1123-subdomain', name, path.field('values').index(index)),
  )
  return [...errors, ...names]
}

function validateWeight(weight: number, path: FieldPath): FieldError[] {
  if (weight >= 1 && weight <= 100) return []
  return [invalidField(path.field('weight'), weight, 'must be in the range 1-100')]
}

interface PodTerms {
  readonly [requiredTerms]?: readonly PodAffinityTerm[] | undefined
  readonly [preferredTerms]?: readonly WeightedPodAffinityTerm[] | undefined
}

function validatePodTerms(terms: PodTerms, path: FieldPath): FieldError[] {
  const [needed, preferred] = [path.field(requiredTerms), path.field(preferredTerms)]
  return [
    ...(terms[requiredTerms] ?? []).flatMap((term, index) => validatePodTerm(term, needed.index(index))),
    ...(terms[preferredTerms] ?? []).flatMap(({ weight, podAffinityTerm }, index) => [
      ...validateWeight(weight, preferred.index(index)),
      ...validatePodTerm(podAffinityTerm, preferred.index(index).field('podAffinityTerm')),
    ]),
  ]
}

function validatePodTerm(term: PodAffinityTerm, path: FieldPath): FieldError[] {
  const { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector } = term
  const mismatched = new Set(mismatchLabelKeys)
  return [
    ...checkLabelSelector(labelSelector, path.field('labelSelector')),
    ...checkLabelSelector(term.namespaceSelector, path.field('namespaceSelector')),
    ...(term.namespaces ?? []).flatMap((name) => checkTextOrEmpty('dns1123-label', name, path.field('namespace'))),
    ...validateLabelKeys(matchLabelKeys, labelSelector, path.field('matchLabelKeys')),
    ...validateLabelKeys(mismatchLabelKeys, labelSelector, path.field('mismatchLabelKeys')),
    ...repeatedKeys(matchLabelKeys, labelSelector, (index) => path.index(index)),
    ...matchLabelKeys.flatMap((key, index) =>
      mismatched.has(key)
        ? [
            invalidField(
              path.field('matchLabelKeys').index(index),
              key,
              'exists in both matchLabelKeys and mismatchLabelKeys',
            ),
          ]
        : [],
    ),
    ...(term.topologyKey === '' ? [requiredField(path.field('topologyKey'), 'can not be empty')] : []),
    ...checkTextOrEmpty('qualified-name', term.topologyKey, path.field('topologyKey')),
  ]
}

function validateLabelKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: FieldPath,
): FieldError[] {
  if (keys.length === 0) return []
  if (selector === undefined) return [forbiddenField(path, 'must not be specified when labelSelector is not set')]
  return keys.flatMap((key, index) => checkTextOrEmpty('qualified-name', key, path.index(index)))
}

/**
 * Keys of matchLabelKeys that the selector names too. On creation each of them was merged into the selector as one
 * expression, so only a second mention is the author's.
 */
function repeatedKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  pathOf: (index: number) => FieldPath,
): FieldError[] {
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}))
  const positions = new Map(keys.map((key, index) => [key, index]))
  return (selector?.matchExpressions ?? []).flatMap(({ key }) => {
    const index = positions.get(key) ?? -1
    const repeated = index >= 0 && seen.has(key)
    seen.add(key)
    return repeated ? [invalidField(pathOf(index), key, 'exists in both matchLabelKeys and labelSelector')] : []
  })
}

export function validateTolerations(tolerations: readonly Toleration[] | undefined, path: FieldPath): FieldError[] {
  return (tolerations ?? []).flatMap((each, index) => validateToleration(each, path.index(index)))
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function validateToleration(toleration: Toleration, path: FieldPath): FieldError[] {
  const { key = '', operator = '', effect = '', tolerationSeconds } = toleration
  const errors = checkText('qualified-name', key, path.field('key'))
  if (key === '' && operator !== 'Exists') {
    const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
    errors.push(invalidField(path.field('operator'), operator, rule))
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(
      invalidField(path.field('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    )
  }
  errors.push(...tolerationOperatorErrors(toleration, path.field('operator')))
  if (effect !== '' && !effects.includes(effect)) errors.push(unsupportedField(path.field('effect'), effect, effects))
  return errors
}

/** The value is what is wrong, but the operator is what upstream names. */
function tolerationOperatorErrors(toleration: Toleration, path: FieldPath): FieldError[] {
  const { operator = '', value = '' } = toleration
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = checkFormat('label-value', value)
      return problems.length === 0 ? [] : [invalidField(path, value, problems.join(';'))]
    }
    case 'Exists':
      return value === '' ? [] : [invalidField(path, value, "value must be empty when `operator` is 'Exists'")]
    case 'Gt':
    case 'Lt':
      // Known, but off unless asked for: https://kep.k8s.io/5471.
      return [unsupportedField(path, operator, ['Equal', 'Exists', 'Lt', 'Gt'])]
    default:
      return [unsupportedField(path, operator, ['Equal', 'Exists'])]
  }
}

export function validateReadinessGates(gates: readonly PodReadinessGate[] | undefined, path: FieldPath): FieldError[] {
  return (gates ?? []).flatMap(({ conditionType }, index) =>
    checkTextOrEmpty('qualified-name', conditionType, path.index(index).field('conditionType')),
  )
}

export function validateSchedulingGates(
  gates: readonly PodSchedulingGate[] | undefined,
  path: FieldPath,
): FieldError[] {
  const seen = new Set<string>()
  return (gates ?? []).flatMap(({ name }, index) => {
    const errors = checkTextOrEmpty('qualified-name', name, path.index(index))
    if (seen.has(name)) errors.push(duplicateField(path.index(index), name))
    seen.add(name)
    return errors
  })
}

export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: FieldPath,
): FieldError[] {
  const last = new Map((constraints ?? []).map((each, index) => [constraintIdentity(each), index]))
  return (constraints ?? []).flatMap((each, index) => [
    ...validateConstraint(each, path.index(index)),
    ...(last.get(constraintIdentity(each)) === index ? [] : [repeatedConstraint(each, path.index(index))]),
    ...checkLabelSelector(each.labelSelector, path.index(index).field('labelSelector')),
  ])
}

const unsatisfiableActions = ['DoNotSchedule', 'ScheduleAnyway']

function validateConstraint(constraint: TopologySpreadConstraint, path: FieldPath): FieldError[] {
  const { maxSkew, topologyKey, minDomains, whenUnsatisfiable, matchLabelKeys = [], labelSelector } = constraint
  const [notPositive, domainsPath] = ['must be greater than zero', path.field('minDomains')]
  const errors: FieldError[] = []
  if (maxSkew <= 0) errors.push(invalidField(path.field('maxSkew'), maxSkew, notPositive))
  if (topologyKey === '') errors.push(requiredField(path.field('topologyKey'), 'can not be empty'))
  if (whenUnsatisfiable === '' || !unsatisfiableActions.includes(whenUnsatisfiable)) {
    errors.push(unsupportedField(path.field('whenUnsatisfiable'), whenUnsatisfiable, unsatisfiableActions))
  }
  if (minDomains !== undefined && minDomains <= 0) errors.push(invalidField(domainsPath, minDomains, notPositive))
  if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule') {
    const rule = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
    errors.push(invalidField(domainsPath, minDomains, rule))
  }
  addErrors(errors, validateLabelKeys(matchLabelKeys, labelSelector, path.field('matchLabelKeys')))
  // Upstream leaves the list's name out of these paths.
  return [...errors, ...repeatedKeys(matchLabelKeys, labelSelector, (index) => path.index(index))]
}

const constraintIdentity = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string =>
  `{${topologyKey}, ${whenUnsatisfiable}}`

/** Of constraints that say the same all but the last are named. */
const repeatedConstraint = (constraint: TopologySpreadConstraint, path: FieldPath): FieldError =>
  duplicateField(path.field('{topologyKey, whenUnsatisfiable}'), constraintIdentity(constraint))
