import type { Description } from './description.ts'

interface Requirement {
  readonly key: string
  /** `In` where a requirement of this kind has no other. */
  readonly operator?: string | undefined
  readonly values?: readonly string[] | undefined
}

/** Requirements on labels of nodes, one a line: `Term 0:  zone in [a, b]`. */
export function describeRequirements(
  text: Description,
  level: number,
  label: string,
  requirements: readonly Requirement[],
): void {
  const [first = '<none>', ...others] = requirements.map(requirementText)
  text.field(level, label, first)
  for (const other of others) text.line(level, `\t${other}`)
}

function requirementText({ key, operator = 'In', values = [] }: Requirement): string {
  return `${key} ${operator.toLowerCase()}${values.length === 0 ? '' : ` [${values.join(', ')}]`}`
}
