import { type Check, containersOf, type PodCheck } from '../check.ts'
import { containersText, distinct, plural } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = containersOf(pod).flatMap(({ name, ports = [] }) => {
    const used = ports.flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]))
    return used.length === 0 ? [] : [{ name, used }]
  })
  if (bad.length === 0) return undefined
  const used = distinct(bad.flatMap(({ used }) => used))
  const names = bad.map(({ name }) => name)
  return {
    reason: 'hostPort',
    detail: `${containersText(names)} ${plural('uses', 'use', names)} ${plural('hostPort', 'hostPorts', used)} ${used.join(', ')}`,
  }
}

export const hostPorts: Check = { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, check }] }
