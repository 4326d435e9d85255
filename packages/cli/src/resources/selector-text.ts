import { isJsonObject, type KubernetesObject, type LabelSelector, member } from '@coracle/api'

/**
 * The selector of an object that selects pods, as a query has it: `app=web,tier in (a,b)`. It stands under
 * `spec.selector`, as a plain map or with matchLabels and matchExpressions. Undefined where there is none.
 */
export function selectorText(object: KubernetesObject): string | undefined {
  const spec = 'spec' in object && isJsonObject(object.spec) ? object.spec : {}
  const selector = member(spec, 'selector')
  if (!isJsonObject(selector)) return undefined
  const { matchLabels, matchExpressions } = selector
  const isStructured = matchLabels !== undefined || matchExpressions !== undefined
  const labels = isStructured ? matchLabels : selector
  const equalities = isJsonObject(labels) ? Object.entries(labels).map(([key, value]) => `${key}=${value}`) : []
  const expressions = Array.isArray(matchExpressions) ? matchExpressions.map(expressionText) : []
  const texts = [...equalities, ...expressions]
  return texts.length === 0 ? undefined : texts.join(',')
}

/**
 * A selector of an object as people read it: its requirements in order of their keys; `<none>` where it has none, unless told
 * otherwise.
 */
export function labelSelectorText(selector: LabelSelector | undefined, none = '<none>'): string {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  const equalities = Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` }))
  const expressions = matchExpressions.map(({ key, operator, values }) => ({
    key,
    text: expressionText({ key, operator, values: [...(values ?? [])].sort() }),
  }))
  const all = [...equalities, ...expressions].sort((a, b) => (a.key < b.key ? -1 : 1))
  return all.length === 0 ? none : all.map(({ text }) => text).join(',')
}

interface Expression {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

function expressionText({ key, operator, values = [] }: Expression): string {
  switch (operator) {
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    default:
      return `${key} ${operator.toLowerCase()} (${values.join(',')})`
  }
}
