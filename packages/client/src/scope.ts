import { type FieldTerm, type KubernetesObject, parseFieldSelector, parseLabelSelector } from '@coracle/api'

/** Which objects of a resource a cache holds. What is absent does not restrict. */
export interface Scope {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/**
 * Whether objects belong to a scope, as the server would decide. Field selectors are read as paths into the object,
 * which is what upstream's selectable fields are; absent fields are ''. Throws a BadRequest on a malformed selector.
 */
export function scopeMatcher(scope: Scope): (object: KubernetesObject) => boolean {
  const labels = scope.labelSelector === undefined ? undefined : parseLabelSelector(scope.labelSelector)
  const terms = scope.fieldSelector === undefined ? [] : parseFieldSelector(scope.fieldSelector).terms
  return (object) =>
    (scope.namespace === undefined || object.metadata.namespace === scope.namespace) &&
    (labels === undefined || labels.matches(object.metadata.labels)) &&
    terms.every((term) => termHolds(term, object))
}

/** Text by which equal scopes of one resource are equal. */
export function scopeText(scope: Scope): string {
  return JSON.stringify([scope.namespace ?? '', scope.labelSelector ?? '', scope.fieldSelector ?? ''])
}

function termHolds({ field, operator, value }: FieldTerm, object: KubernetesObject): boolean {
  let at: unknown = object
  for (const part of field.split('.')) at = (at as Readonly<Record<string, unknown>> | null | undefined)?.[part]
  return (String(at ?? '') === value) === (operator === '=')
}
