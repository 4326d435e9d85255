import type { Check, PodCheck } from '../check.ts'

const fields = ['hostNetwork', 'hostPID', 'hostIPC'] as const

const check: PodCheck = ({ spec }) => {
  const shared = fields.filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

export const hostNamespaces: Check = { id: 'hostNamespaces', level: 'baseline', versions: [{ since: 0, check }] }
