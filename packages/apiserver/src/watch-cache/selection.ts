import {
  everything,
  type FieldTerm,
  fieldMatcher,
  type KubernetesObject,
  type LabelRequirement,
  parseFieldSelector,
  parseLabelSelector,
  type Resource,
  type ResourceDefinition,
} from '@coracle/api'
import type { VersionView } from '../versions/version-view.ts'

/** Which objects of a resource a list or a watch is about. */
export interface Selection {
  /** Empty for every namespace. */
  readonly namespace: string
  /** Whether no selector is in force: the namespace alone decides. */
  readonly unfiltered: boolean
  /** Whether the selectors select the object. The namespace is judged by the key. */
  matches(object: KubernetesObject): boolean
  /** The cache key of the only object that can match, where the selection names it. */
  readonly key: string | undefined
  readonly labelRequirements: readonly LabelRequirement[]
  /** Terms on fields of the kind (not of metadata), by the hub's names. */
  readonly fieldTerms: readonly FieldTerm[]
  /** What is still to be asked of the object as the version shows it; undefined where `matches` says all. */
  readonly matchesShown?: (object: KubernetesObject) => boolean
}

export interface SelectionOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

type SelectedKind = Resource & Pick<ResourceDefinition, 'schema'>

/** The fields of a served version, see VersionView. */
export type SelectedFields = Pick<VersionView, 'selectableFields' | 'selectsShown' | 'hubField'>

/** Parses selectors. Throws a BadRequest for what does not parse and for fields the kind is not selected by. */
export function selectionOf(definition: SelectedKind, options: SelectionOptions, view: SelectedFields): Selection {
  const namespace = definition.namespaced ? (options.namespace ?? '') : ''
  const { labelSelector = '', fieldSelector = '' } = options
  if (labelSelector === '' && fieldSelector === '') return unfilteredSelection(namespace)
  const labels = labelSelector === '' ? everything : parseLabelSelector(labelSelector)
  const fields = parseFieldSelector(fieldSelector)
  const isOfKind = ({ field }: FieldTerm) => Object.hasOwn(view.selectableFields, field)
  const shown = view.selectsShown ? fields.terms.filter(isOfKind) : []
  const stored = shown.length === 0 ? fields.terms : fields.terms.filter((term) => !isOfKind(term))
  const matcherOf = (terms: readonly FieldTerm[]) =>
    fieldMatcher({ terms }, view.selectableFields, { isCustom: definition.schema.dialect === 'structural' })
  const matchesFields = stored.length === 0 ? undefined : matcherOf(stored)
  const name = fields.terms.find(({ field, operator }) => field === 'metadata.name' && operator === '=')?.value
  return {
    namespace,
    unfiltered: labels.requirements.length === 0 && stored.length === 0,
    matches: (object) =>
      labels.matches(object.metadata.labels) && (matchesFields === undefined || matchesFields(object)),
    key: name === undefined ? undefined : keyIn(definition, namespace, name),
    labelRequirements: labels.requirements,
    fieldTerms: stored.filter(isOfKind).map((term) => ({ ...term, field: view.hubField(term.field) })),
    ...(shown.length === 0 ? {} : { matchesShown: matcherOf(shown) }),
  }
}

/** Every object, of one namespace or of all. */
export function unfilteredSelection(namespace: string): Selection {
  const matches = () => true
  return { namespace, unfiltered: true, matches, key: undefined, labelRequirements: [], fieldTerms: [] }
}

function keyIn(definition: Resource, namespace: string, name: string): string | undefined {
  if (!definition.namespaced) return name
  return namespace === '' ? undefined : `${namespace}/${name}`
}
