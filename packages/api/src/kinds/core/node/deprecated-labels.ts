/** Labels of nodes that have other names now (pkg/api/node). */
import type { FieldPath } from '../../../field-path.ts'
import { checkFormat } from '../../../string-formats.ts'
import type { NodeSelectorTerm } from '../common.ts'

const deprecatedLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
}

/** What has taken the place of a label of nodes, in upstream's words. */
export const nodeLabelDeprecation = (key: string): string | undefined =>
  Object.hasOwn(deprecatedLabels, key) ? deprecatedLabels[key] : undefined

/** Warns of labels of nodes, as the keys of what selects by them. */
export function nodeLabelWarnings(keys: Iterable<string>, pathOf: (key: string) => FieldPath): readonly string[] {
  return [...keys].flatMap((key) => {
    const deprecation = nodeLabelDeprecation(key)
    return deprecation === undefined ? [] : [`${pathOf(key)}: ${deprecation}`]
  })
}

/** Warns of conditions on such labels, and, where that is asked for, on values that no label can have. */
export function nodeTermWarnings(
  { matchExpressions = [] }: NodeSelectorTerm,
  path: FieldPath,
  { checksValues }: { readonly checksValues: boolean },
): readonly string[] {
  return matchExpressions.flatMap(({ key, values = [] }, index) => {
    const at = path.field('matchExpressions').index(index)
    const deprecation = nodeLabelDeprecation(key)
    const wrong = values.flatMap((value, position) =>
      checkFormat('label-value', value).map(
        (problem) => `${at.field('values').index(position)}: ${value} is invalid, ${problem}`,
      ),
    )
    return [
      ...(deprecation === undefined ? [] : [`${at.field('key')}: ${key} is ${deprecation}`]),
      ...(checksValues ? wrong : []),
    ]
  })
}
