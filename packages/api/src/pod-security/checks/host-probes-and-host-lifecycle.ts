import type { Container } from '../../kinds/core/pod/container.ts'
import { type Check, containersOf, type PodCheck } from '../check.ts'
import { containersText, distinct, plural, quoted } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = containersOf(pod).filter((container) => hostsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const names = distinct(bad.map(({ name }) => name))
  const hosts = distinct(bad.flatMap(hostsOf))
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts)
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(names)} ${plural('uses', 'use', names)} ${what} ${quoted(hosts)}`,
  }
}

/** Where a container sends its node agent, other than to itself. */
function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container): readonly string[] {
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((action) =>
    [action?.httpGet?.host ?? '', action?.tcpSocket?.host ?? ''].filter((host) => host !== ''),
  )
}

export const hostProbesAndHostLifecycle: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  versions: [{ since: 34, check }],
}
