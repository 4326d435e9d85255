import {
  builtinKinds,
  type CustomResourceDefinition,
  type CustomResourceDefinitionCondition,
  type CustomResourceNames,
} from '@coracle/api'

/** Which names of a definition may be used, and why others may not. */
export interface Naming {
  readonly accepted: CustomResourceNames
  readonly condition: CustomResourceDefinitionCondition
}

/**
 * Accepts the names of a definition that nobody else in its group has: whoever comes first keeps them (upstream:
 * NamingConditionController). Names that the server's own kinds have are never free. Pure.
 */
export function acceptNames(
  { metadata, spec, status }: CustomResourceDefinition,
  all: readonly CustomResourceDefinition[],
): Naming {
  const { names: wanted, group } = spec
  const others = all.filter((each) => each.spec.group === group && each.metadata.name !== metadata.name)
  const used: readonly Partial<CustomResourceNames>[] = [
    ...others.map((each) => each.status?.acceptedNames ?? {}),
    ...builtinKinds.filter((kind) => kind.group === group),
  ]
  const resources = new Set(used.flatMap(({ plural, singular, shortNames = [] }) => [plural, singular, ...shortNames]))
  const kinds = new Set(used.flatMap(({ kind, listKind }) => [kind, listKind]))
  const old: Partial<CustomResourceNames> = status?.acceptedNames ?? {}
  const accepted: { -readonly [K in keyof CustomResourceNames]?: CustomResourceNames[K] | undefined } = { ...old }
  let conflict: Pick<CustomResourceDefinitionCondition, 'reason' | 'message'> | undefined

  const accept = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: string,
    taken: Set<string | undefined>,
  ) => {
    const name = wanted[field]
    if (name === old[field] || !taken.has(name)) accepted[field] = name
    else conflict = { reason, message: inUse(name) }
  }
  accept('plural', 'PluralConflict', resources)
  accept('singular', 'SingularConflict', resources)
  const taken = (wanted.shortNames ?? []).filter(
    (name) => resources.has(name) && old.shortNames?.includes(name) !== true,
  )
  if (taken.length === 0) accepted.shortNames = wanted.shortNames
  else conflict = { reason: 'ShortNamesConflict', message: aggregate(taken.map(inUse)) }
  accept('kind', 'KindConflict', kinds)
  accept('listKind', 'ListKindConflict', kinds)
  accepted.categories = wanted.categories
  // The schema wants both, and upstream writes them empty where they are not accepted.
  const names: CustomResourceNames = { ...accepted, plural: accepted.plural ?? '', kind: accepted.kind ?? '' }
  return {
    accepted: names,
    condition:
      conflict === undefined
        ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
        : { type: 'NamesAccepted', status: 'False', ...conflict },
  }
}

const inUse = (name: string | undefined): string => `${JSON.stringify(name)} is already in use`

/** Several errors as Go's aggregate writes them. */
function aggregate(messages: readonly string[]): string {
  return messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`
}
