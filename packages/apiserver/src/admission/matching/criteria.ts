import {
  type AdmissionRule,
  type KubernetesObject,
  type LabelSelectorMatcher,
  notFound,
  type ResourceDefinition,
  servedVersions,
} from '@coracle/api'
import type { Registries } from '../../registries.ts'
import { isNamespace } from '../../registry/namespaces.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { isReview } from '../reviews.ts'
import { ruleMatches } from './rules.ts'

/** Which requests somebody wants to see: those that a rule, and both selectors, match. */
export interface MatchCriteria {
  readonly rules: readonly CriteriaRule[]
  /** Requests that match one of these are left out. */
  readonly exclude: readonly CriteriaRule[]
  /** Whether a request for another version of a resource in the rules matches, too. */
  readonly matchesEquivalent: boolean
  readonly namespaces: LabelSelectorMatcher
  readonly objects: LabelSelectorMatcher
}

/** A rule, which may be about objects of certain names only. */
export type CriteriaRule = AdmissionRule & { readonly resourceNames?: readonly string[] | undefined }

/** The version of the request's resource in which objects are to be shown; undefined where no rule matches. */
export function versionWanted(
  criteria: MatchCriteria,
  attributes: AdmissionAttributes,
): ResourceDefinition | undefined {
  const { rules, exclude, matchesEquivalent } = criteria
  if (exclude.length > 0 && matchingVersion(exclude, matchesEquivalent, attributes) !== undefined) return undefined
  return matchingVersion(rules, matchesEquivalent, attributes)
}

function matchingVersion(
  rules: readonly CriteriaRule[],
  matchesEquivalent: boolean,
  attributes: AdmissionAttributes,
): ResourceDefinition | undefined {
  const { requested, definition } = attributes
  if (rules.some((rule) => matches(rule, requested, attributes))) return requested
  if (!matchesEquivalent) return undefined
  // Of several versions the one that the first rule names.
  const others = servedVersions(definition).filter((version) => version !== requested)
  for (const rule of rules) {
    const found = others.find((version) => matches(rule, version, attributes))
    if (found !== undefined) return found
  }
  return undefined
}

function matches(rule: CriteriaRule, version: ResourceDefinition, attributes: AdmissionAttributes): boolean {
  const { operation, subresource, name } = attributes
  const { resourceNames = [] } = rule
  if (resourceNames.length > 0 && !resourceNames.includes(name)) return false
  const { group, version: versionName, plural, namespaced } = version
  return ruleMatches(rule, { operation, group, version: versionName, resource: plural, subresource, namespaced })
}

/** Whether the labels of the object, before or after the request, and of its namespace are those that are wanted. */
export function selectorsMatch(
  { namespaces, objects }: MatchCriteria,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  registries: Registries,
): boolean {
  return namespaceMatches(namespaces, attributes, object, registries) && objectMatches(objects, attributes.old, object)
}

function objectMatches(
  selector: LabelSelectorMatcher,
  old: KubernetesObject | undefined,
  object: KubernetesObject | undefined,
): boolean {
  if (selectsAll(selector)) return true
  return [object, old].some((each) => each !== undefined && selector.matches(each.metadata.labels))
}

/** A namespace counts as being in itself; anything else outside of namespaces is always wanted. */
function namespaceMatches(
  selector: LabelSelectorMatcher,
  attributes: AdmissionAttributes,
  object: KubernetesObject | undefined,
  registries: Registries,
): boolean {
  const { definition, operation, subresource } = attributes
  if (selectsAll(selector)) return true
  if (!definition.namespaced && !isNamespace(definition)) return true
  const isWritten = subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
  if (isNamespace(definition) && isWritten && object !== undefined) return selector.matches(object.metadata.labels)
  const name = namespaceOf(attributes)
  const namespace = namespaceObject(registries, name)
  if (namespace === undefined) throw notFound({ group: '', plural: 'namespaces' }, name)
  return selector.matches(namespace.metadata.labels)
}

const selectsAll = ({ requirements, nothing }: LabelSelectorMatcher): boolean => requirements.length === 0 && !nothing

/** The namespace of a request as upstream tells it: that of a namespace is itself. */
export function namespaceOf({ definition, namespace, name }: AdmissionAttributes): string {
  return isNamespace(definition) ? name : namespace
}

/** A namespace as it is stored. */
export function namespaceObject(registries: Registries, name: string): KubernetesObject | undefined {
  return registries.byResource('', 'v1', 'namespaces')?.peek('', name)?.object
}

const policyKinds: ReadonlySet<string> = new Set([
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])
const configurationKinds = new Set([...policyKinds, 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])

/** Whether a request is about what configures admission: no webhook is asked about those, or a mistake could not be mended. */
export const isExemptFromWebhooks = (attributes: AdmissionAttributes): boolean =>
  isOneOf(configurationKinds, attributes)

/** Whether a request is about policies, or is a review: none is asked about those (upstream's admission/exclusion). */
export const isExemptFromPolicies = (attributes: AdmissionAttributes): boolean =>
  isOneOf(policyKinds, attributes) || isReview(attributes)

const isOneOf = (kinds: ReadonlySet<string>, { definition }: AdmissionAttributes): boolean =>
  definition.group === 'admissionregistration.k8s.io' && kinds.has(definition.kind)
