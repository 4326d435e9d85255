import type { Node } from '@coracle/api'

/** Labels that have another name by now, and their names before: selectors may still ask for those. */
const formerNames: readonly (readonly [present: string, former: string])[] = [
  ['kubernetes.io/os', 'beta.kubernetes.io/os'],
  ['kubernetes.io/arch', 'beta.kubernetes.io/arch'],
]

/** The labels that a node is to have under their former names and has not, or with another value (upstream's reconcileNodeLabels). */
export function missingFormerLabels({ metadata: { labels = {} } }: Node): Readonly<Record<string, string>> {
  const missing = formerNames.flatMap(([present, former]) => {
    const value = labels[present]
    return value === undefined || labels[former] === value ? [] : [[former, value] as const]
  })
  return Object.fromEntries(missing)
}
