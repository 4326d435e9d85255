import type { Container } from '../../kinds/core/pod/container.ts'
import { type Check, containersOf, exceptOnWindows, type PodCheck } from '../check.ts'
import { containersText, distinct, quoted } from '../wording.ts'

const check: PodCheck = (pod) => {
  const containers = containersOf(pod)
  const keeping = containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'))
  const adding = containers.filter((container) => forbiddenOf(container).length > 0)
  if (keeping.length === 0 && adding.length === 0) return undefined
  const details = [
    ...(keeping.length === 0 ? [] : [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [
          `${named(adding)} must not include ${quoted(distinct(adding.flatMap(forbiddenOf)))} in securityContext.capabilities.add`,
        ]),
  ]
  return { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const named = (containers: readonly Container[]): string => containersText(containers.map(({ name }) => name))

function forbiddenOf({ securityContext }: Container): readonly string[] {
  return (securityContext?.capabilities?.add ?? []).filter((each) => each !== 'NET_BIND_SERVICE')
}

/** All capabilities are dropped, but for the ports below 1024. */
export const capabilitiesRestricted: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  versions: [
    { since: 22, check, overrides: ['capabilities_baseline'] },
    { since: 25, check: exceptOnWindows(check), overrides: ['capabilities_baseline'] },
  ],
}
