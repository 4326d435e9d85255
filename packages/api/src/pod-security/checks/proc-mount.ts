import { type Check, containersOf, exceptInUserNamespaces, type PodCheck } from '../check.ts'
import { containersText, distinct, quoted } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = containersOf(pod).flatMap(({ name, securityContext }) => {
    const { procMount = 'Default' } = securityContext ?? {}
    return procMount === 'Default' ? [] : [{ name, procMount }]
  })
  if (bad.length === 0) return undefined
  const types = distinct(bad.map(({ procMount }) => procMount))
  return {
    reason: 'procMount',
    detail: `${containersText(bad.map(({ name }) => name))} must not set securityContext.procMount to ${quoted(types)}`,
  }
}

/** The masks over /proc stay where they are; since 1.35 only where a pod shares the node's users. */
export const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  versions: [
    { since: 0, check },
    { since: 35, check: exceptInUserNamespaces(check) },
  ],
}

/** The baseline was enough until 1.35. */
export const procMountRestricted: Check = {
  id: 'procMount_restricted',
  level: 'restricted',
  versions: [{ since: 35, check, overrides: ['procMount'] }],
}
